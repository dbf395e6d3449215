// SPDX-License-Identifier: Apache-2.0
// Authenticated encryption and key derivation by the system's libcrypto. It is loaded when first needed: the runtime
// library itself depends on nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::format {

inline constexpr size_t kKeyBytes = 32;
inline constexpr size_t kNonceBytes = 12;
inline constexpr size_t kTagBytes = 16;

using CipherKey = std::array<uint8_t, kKeyBytes>;

// scrypt (RFC 7914). Takes 128 * r * n bytes for as long as it runs.
struct ScryptCost {
  uint64_t n = 0;
  uint64_t r = 8, p = 1;
};
Status scrypt(ByteSpan secret, ByteSpan salt, const ScryptCost& cost, std::span<uint8_t> out);

// From the system's generator.
Status random_bytes(std::span<uint8_t> out);

// AES-256-GCM. `associated` is authenticated with the text, but not part of it. `out` has the size of the input.
struct GcmInput {
  const CipherKey& key;
  ByteSpan nonce;
  ByteSpan associated;
};
Status gcm_seal(const GcmInput& input, ByteSpan plain, std::span<uint8_t> out,
                std::span<uint8_t> tag);
// False: the text, the associated bytes or the tag is not what was sealed. `out` is then of no use.
Result<bool> gcm_open(const GcmInput& input, ByteSpan sealed, ByteSpan tag, std::span<uint8_t> out);

}  // namespace rk::format
