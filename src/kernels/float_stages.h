// SPDX-License-Identifier: Apache-2.0
// When the stages of requantize.h can be done in float32: value * scale / 2^shift, to nearest, ties to even, is one fused
// multiply-add onto 1.5 * 2^23, after which the integer is in the low bits. Exact while operands and results stay below
// kFloatLimit, in the default rounding mode. Baseline code: include it before a frame for a newer CPU begins.
#pragma once

#include <cstdint>

#include "kernels/requantize.h"

namespace rk::kernels {

inline constexpr int64_t kFloatLimit = 1 << 22;
inline constexpr float kFloatMagic = 12582912.0f;  // 1.5 * 2^23
inline constexpr int32_t kFloatMagicBits = 0x4b400000;

inline bool exact_in_float(ScaleShift s) { return s.scale > -(1 << 24) && s.scale < (1 << 24); }

inline float float_scale(ScaleShift s) {
  return static_cast<float>(s.scale) / static_cast<float>(uint64_t{1} << s.shift);
}

// What rne(value * scale / 2^shift) is bounded by for |value| <= bound, or negative where a float could be inexact. A
// negative bound stays negative, so stages chain.
inline int64_t float_bound(int64_t bound, ScaleShift scale) {
  if (bound < 0 || bound >= kFloatLimit || !exact_in_float(scale)) return -1;
  const int64_t out = scaled_bound(bound, scale);
  return out < kFloatLimit ? out : -1;
}

// The whole output stage, zero point included.
inline bool output_fits_float(int64_t bound, const OutputStage& stage) {
  return float_bound(bound, stage.scale) >= 0 && stage.zero_point > -kFloatLimit &&
         stage.zero_point < kFloatLimit;
}

}  // namespace rk::kernels
