// SPDX-License-Identifier: Apache-2.0
// IEEE binary16 and bfloat16 as bit patterns. Conversions round to nearest even and keep NaN a NaN;
// overflow gives infinity, as the NPU's fp16 path is assumed to do.
#pragma once

#include <bit>
#include <cstdint>

namespace rk {

inline float half_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24 is exact in float.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

inline uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or beyond
  if (magnitude >= 0x38800000u) {                  // normal in half
    const uint32_t rebased = magnitude - 0x38000000u;
    return static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1)) >> 13));
  }
  if (magnitude < 0x33000000u)
    return static_cast<uint16_t>(sign);  // below half of the smallest subnormal
  const int shift = 126 - static_cast<int>(magnitude >> 23);  // 14..24
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t floor = mantissa >> shift;
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  return static_cast<uint16_t>(sign | (floor + (rest > half || (rest == half && (floor & 1)))));
}

inline float bfloat16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

inline uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

}  // namespace rk
