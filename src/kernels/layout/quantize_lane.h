// SPDX-License-Identifier: Apache-2.0
// rk::quantize_f32 without branches or library calls, so that compilers vectorise loops of it; equal for every float
// (tested over ties, extremes and all exponents). It does not depend on the thread's rounding mode: the conversion to
// int truncates in every mode, and the remainder is exact.
#pragma once

#include <cstdint>

namespace rk::kernels {

inline int8_t quantize_lane(float x, float scale, int32_t zero_point) {
  float scaled = x / scale;
  scaled = scaled == scaled ? scaled : 0.0f;
  scaled = scaled < 1024.0f ? scaled : 1024.0f;
  scaled = scaled > -1024.0f ? scaled : -1024.0f;
  const auto whole = static_cast<int32_t>(scaled);
  const float rest = scaled - static_cast<float>(whole);
  const int32_t odd = whole & 1;
  const int32_t up = (rest > 0.5f) | ((rest == 0.5f) & odd);
  const int32_t down = (rest < -0.5f) | ((rest == -0.5f) & odd);
  const int64_t y = int64_t{whole} + up - down + zero_point;
  return static_cast<int8_t>(y < -128 ? -128 : y > 127 ? 127 : y);
}

}  // namespace rk::kernels
