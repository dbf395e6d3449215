// SPDX-License-Identifier: Apache-2.0
// A whole .rknn file behind a key. Vendor-encrypted files start with the same magic and are told apart by the second one.
//
//   0x00  "CYPTRKNN", "OPENRKNN"
//   0x10  u32 form (1), u32 level (1 to 3), u32 kind of key, u32 zero
//   0x20  16 bytes salt, 12 bytes nonce, u32 zero
//   0x40  16 bytes that tell a wrong key from a damaged file
//   0x50  u64 bytes of the plain file, u64 zero
//   0x60  the file under AES-256-GCM, 16 bytes tag; the header is authenticated with it
//
// Key and check bytes come from scrypt over the secret and the salt; a level is its cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::format {

enum class KeyKind : uint32_t {
  kProduct = 0,     // in every copy of this library: keeps viewers out, not a determined reader
  kPassphrase = 1,  // of a person
  kKeyFile = 2,     // any file, of at most kMaxKeyFileBytes
};
inline constexpr size_t kMaxKeyFileBytes = size_t{1} << 20;

// What the user has to open files with.
struct ModelKeys {
  std::optional<std::string> passphrase;
  std::optional<std::string> key_file;  // its path
};
// RKNN_MODEL_PASSPHRASE and RKNN_MODEL_KEY_FILE.
ModelKeys keys_of_environment();

// Encrypted by anyone.
bool is_encrypted(ByteSpan file);

struct EncryptedInfo {
  int level = 0;
  KeyKind key = KeyKind::kProduct;
  uint64_t plain_bytes = 0;
};
// kUnsupported for a vendor's file, kInvalidModel for damage.
Result<EncryptedInfo> describe_encrypted(ByteSpan file);

// Level 1 to 3. Under the passphrase or the key file, if there is one (not both), else under the product key.
Result<std::vector<uint8_t>> encrypt_model(ByteSpan file, int level, const ModelKeys& keys);
// kInvalidArgument for a key that is missing or wrong, kInvalidModel for a file that is not what was encrypted.
Result<std::vector<uint8_t>> decrypt_model(ByteSpan file, const ModelKeys& keys);

}  // namespace rk::format
