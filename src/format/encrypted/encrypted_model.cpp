// SPDX-License-Identifier: Apache-2.0
#include "format/encrypted/encrypted_model.h"

#include <cstdlib>

#include "base/file.h"
#include "format/encrypted/cipher.h"

namespace rk::format {
namespace {

constexpr std::string_view kMagic = "CYPTRKNN", kOwnMagic = "OPENRKNN";
constexpr uint32_t kForm = 1;
constexpr size_t kSaltBytes = 16, kCheckBytes = 16, kHeaderBytes = 96;
// About 2, 35 and 300 ms, and 1, 16 and 128 MiB, for each guess at a passphrase.
constexpr uint64_t kCosts[] = {uint64_t{1} << 10, uint64_t{1} << 14, uint64_t{1} << 17};
constexpr int kLevels = static_cast<int>(std::size(kCosts));
// No secret: whoever has this library can open what it closes.
constexpr std::string_view kProductKey = "OpenRKNN product key 1";

bool starts_with(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

struct Header {
  EncryptedInfo info;
  ByteSpan salt, nonce, check;
};

Result<Header> read_header(ByteSpan file) {
  if (!starts_with(file, kMagic)) return invalid_model("not an encrypted .rknn file");
  if (!starts_with(file.subspan(kMagic.size()), kOwnMagic)) {
    return unsupported(
        "this .rknn is encrypted by the vendor's toolkit (it starts with CYPTRKNN); its layout is "
        "not public. Use the file from before the encryption");
  }
  if (file.size() < kHeaderBytes + kTagBytes) {
    return invalid_model(str("this encrypted .rknn is cut off: it has ", file.size(),
                             " bytes, its header alone takes ", kHeaderBytes + kTagBytes));
  }
  const auto word = [&](size_t at) { return load<uint32_t>(file.data() + at); };
  if (word(16) != kForm) {
    return unsupported(str("this encrypted .rknn has form ", word(16), ", this build reads form ",
                           kForm, ". Update, or encrypt the model again"));
  }
  Header out;
  const uint32_t level = word(20), kind = word(24);
  out.info.plain_bytes = load<uint64_t>(file.data() + 80);
  const bool fits = level >= 1 && level <= uint32_t{kLevels} && kind <= 2 && word(28) == 0 &&
                    word(60) == 0 && load<uint64_t>(file.data() + 88) == 0;
  if (!fits) {
    return invalid_model(str("this encrypted .rknn is damaged: its header has level ", level,
                             " (1 to ", kLevels, ") and kind of key ", kind, " (0 to 2)"));
  }
  if (out.info.plain_bytes != file.size() - kHeaderBytes - kTagBytes) {
    return invalid_model(str(
        "this encrypted .rknn is cut off or has bytes behind its end: it "
        "holds ",
        file.size() - kHeaderBytes - kTagBytes, " bytes, its header says ", out.info.plain_bytes));
  }
  out.info.level = static_cast<int>(level);
  out.info.key = static_cast<KeyKind>(kind);
  out.salt = file.subspan(32, kSaltBytes);
  out.nonce = file.subspan(48, kNonceBytes);
  out.check = file.subspan(64, kCheckBytes);
  return out;
}

Result<std::vector<uint8_t>> secret_of(KeyKind kind, const ModelKeys& keys) {
  if (kind == KeyKind::kProduct) {
    const ByteSpan key = bytes_of(kProductKey);
    return std::vector<uint8_t>(key.begin(), key.end());
  }
  if (kind == KeyKind::kPassphrase) {
    if (!keys.passphrase)
      return invalid_argument(
          "this .rknn is encrypted under a passphrase: set RKNN_MODEL_PASSPHRASE to it");
    if (keys.passphrase->empty()) return invalid_argument("the passphrase is empty");
    const ByteSpan text = bytes_of(*keys.passphrase);
    return std::vector<uint8_t>(text.begin(), text.end());
  }
  if (!keys.key_file)
    return invalid_argument(
        "this .rknn is encrypted under a key file: set RKNN_MODEL_KEY_FILE to its path");
  RK_ASSIGN(std::vector<uint8_t> bytes, read_file(*keys.key_file, kMaxKeyFileBytes));
  if (bytes.empty()) return invalid_argument(str("the key file ", *keys.key_file, " is empty"));
  return bytes;
}

struct Derived {
  CipherKey key{};
  std::array<uint8_t, kCheckBytes> check{};

  Derived() = default;
  Derived(const Derived&) = default;
  Derived& operator=(const Derived&) = default;
  ~Derived() { explicit_bzero(key.data(), key.size()); }
};

Result<Derived> derive(const EncryptedInfo& info, const ModelKeys& keys, ByteSpan salt) {
  RK_ASSIGN(std::vector<uint8_t> secret, secret_of(info.key, keys));
  std::array<uint8_t, kKeyBytes + kCheckBytes> bytes{};
  const Status status =
      scrypt(secret, salt, {.n = kCosts[static_cast<size_t>(info.level - 1)]}, bytes);
  explicit_bzero(secret.data(), secret.size());
  RK_TRY(status);
  Derived out;
  std::memcpy(out.key.data(), bytes.data(), kKeyBytes);
  std::memcpy(out.check.data(), bytes.data() + kKeyBytes, kCheckBytes);
  explicit_bzero(bytes.data(), bytes.size());
  return out;
}

// In a time that does not tell where they differ.
bool equal(ByteSpan a, ByteSpan b) {
  uint8_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

}  // namespace

ModelKeys keys_of_environment() {
  ModelKeys out;
  if (const char* const text = secure_getenv("RKNN_MODEL_PASSPHRASE")) out.passphrase = text;
  if (const char* const path = secure_getenv("RKNN_MODEL_KEY_FILE")) out.key_file = path;
  return out;
}

bool is_encrypted(ByteSpan file) { return starts_with(file, kMagic); }

Result<EncryptedInfo> describe_encrypted(ByteSpan file) {
  RK_ASSIGN(const Header header, read_header(file));
  return header.info;
}

Result<std::vector<uint8_t>> encrypt_model(ByteSpan file, int level, const ModelKeys& keys) {
  if (level < 1 || level > kLevels)
    return invalid_argument(str("crypt_level ", level, ", expected 1 to ", kLevels));
  if (keys.passphrase && keys.key_file)
    return invalid_argument("give a passphrase or a key file, not both");
  if (is_encrypted(file)) return invalid_argument("the model is encrypted already");
  const EncryptedInfo info{level,
                           keys.passphrase ? KeyKind::kPassphrase
                           : keys.key_file ? KeyKind::kKeyFile
                                           : KeyKind::kProduct,
                           file.size()};
  std::array<uint8_t, kSaltBytes + kNonceBytes> random{};
  RK_TRY(random_bytes(random));
  const ByteSpan salt = ByteSpan(random).first(kSaltBytes);
  const ByteSpan nonce = ByteSpan(random).subspan(kSaltBytes);
  RK_ASSIGN(const Derived derived, derive(info, keys, salt));

  ByteWriter header;
  header.write_bytes(bytes_of(kMagic));
  header.write_bytes(bytes_of(kOwnMagic));
  header.write(kForm);
  header.write(static_cast<uint32_t>(info.level));
  header.write(static_cast<uint32_t>(info.key));
  header.write(uint32_t{0});
  header.write_bytes(salt);
  header.write_bytes(nonce);
  header.write(uint32_t{0});
  header.write_bytes(derived.check);
  header.write(info.plain_bytes);
  header.write(uint64_t{0});
  RK_ASSERT(header.size() == kHeaderBytes, "the header has a fixed size");
  std::vector<uint8_t> out = header.release();
  out.resize(kHeaderBytes + file.size() + kTagBytes);
  const std::span<uint8_t> all(out);
  RK_TRY(gcm_seal({derived.key, nonce, all.first(kHeaderBytes)}, file,
                  all.subspan(kHeaderBytes, file.size()), all.last(kTagBytes)));
  return out;
}

Result<std::vector<uint8_t>> decrypt_model(ByteSpan file, const ModelKeys& keys) {
  RK_ASSIGN(const Header header, read_header(file));
  RK_ASSIGN(const Derived derived, derive(header.info, keys, header.salt));
  if (!equal(derived.check, header.check)) {
    return header.info.key == KeyKind::kProduct
               ? invalid_model(
                     "this encrypted .rknn is damaged: its header is not what was written")
               : invalid_argument(
                     str("this encrypted .rknn does not open: the ",
                         header.info.key == KeyKind::kPassphrase ? "passphrase" : "key file",
                         " is not the one it was encrypted with, or its header is damaged"));
  }
  std::vector<uint8_t> out(static_cast<size_t>(header.info.plain_bytes));
  RK_ASSIGN(const bool genuine,
            gcm_open({derived.key, header.nonce, file.first(kHeaderBytes)},
                     file.subspan(kHeaderBytes, out.size()), file.last(kTagBytes), out));
  if (!genuine)
    return invalid_model(
        "this encrypted .rknn is damaged: its contents are not what was encrypted");
  return out;
}

}  // namespace rk::format
