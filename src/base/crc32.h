// SPDX-License-Identifier: Apache-2.0
// CRC-32 as zip, gzip and PNG use it (reflected polynomial 0xEDB88320). A guard against damage, not
// against intent.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace rk {

namespace detail {
constexpr std::array<uint32_t, 256> make_crc32_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0u);
    table[byte] = value;
  }
  return table;
}
inline constexpr std::array<uint32_t, 256> kCrc32Table = make_crc32_table();
}  // namespace detail

inline uint32_t crc32(ByteSpan bytes) {
  uint32_t value = 0xFFFFFFFFu;
  for (const uint8_t byte : bytes)
    value = (value >> 8) ^ detail::kCrc32Table[(value ^ byte) & 0xFF];
  return value ^ 0xFFFFFFFFu;
}

}  // namespace rk
