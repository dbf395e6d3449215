// SPDX-License-Identifier: Apache-2.0
// rk::quantize_f32 without branches or library calls, so that compilers vectorize loops of it; equal for every float
// (tested over ties, extremes and all exponents). It does not depend on the thread's rounding mode: the conversion to
// int truncates in every mode, and the remainder is exact.
#pragma once

#include <bit>
#include <cstdint>

namespace rk::kernels {

// `zero_point` must be within +-2^20; clamp_zero_point() makes it so without changing any result.
inline int8_t quantize_lane(float x, float scale, int32_t zero_point) {
  // Comparisons are on the bits, which order like the magnitudes: GCC does not vectorize comparisons of floats, because
  // they might raise an exception flag.
  const int32_t bits = std::bit_cast<int32_t>(x / scale);
  int32_t magnitude = bits & 0x7fffffff;
  magnitude = magnitude > 0x7f800000 ? 0 : magnitude;           // NaN
  magnitude = magnitude < 0x44800000 ? magnitude : 0x44800000;  // 1024
  const float value = std::bit_cast<float>(magnitude);
  const auto whole = static_cast<int32_t>(value);
  const int32_t rest = std::bit_cast<int32_t>(value - static_cast<float>(whole));
  const int32_t half = 0x3f000000;
  const int32_t rounded = whole + (rest > half ? 1 : 0) + (rest == half ? whole & 1 : 0);
  const int32_t sign = bits >> 31;
  int32_t y = (rounded ^ sign) - sign + zero_point;
  y = y > -128 ? y : -128;
  y = y < 127 ? y : 127;
  return static_cast<int8_t>(y);
}

inline int32_t clamp_zero_point(int32_t zero_point) {
  constexpr int32_t kLimit = 1 << 20;
  return zero_point < -kLimit ? -kLimit : zero_point > kLimit ? kLimit : zero_point;
}

}  // namespace rk::kernels
