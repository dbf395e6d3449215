// SPDX-License-Identifier: Apache-2.0
// Sizes that come from files or callers are multiplied and added here and nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rk {

// Nothing we allocate for one object may exceed this; larger requests from a file are refused, not
// tried.
inline constexpr uint64_t kMaxObjectBytes = uint64_t{1} << 30;

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// Product of extents; a negative extent or an overflow gives nothing. The empty product is 1.
inline std::optional<uint64_t> checked_product(std::span<const int64_t> extents) {
  uint64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent < 0) return std::nullopt;
    const auto next = checked_mul(product, static_cast<uint64_t>(extent));
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

// The smallest multiple of `alignment` that is not below `value`. For values of our own making.
template <typename T>
constexpr T align_up(T value, T alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

template <typename T>
constexpr T ceil_div(T value, T divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace rk
