// SPDX-License-Identifier: Apache-2.0
// The rounding rule of the simulated NPU and the normalized scale/shift pairs of its registers
// (design: docs/ fidelity.md, "Requantization"). Compiler, kernels, reader of vendor files and
// register emulator share this file; only the emulator takes the tie rule as a parameter.
//
// Note: float-to-int8 quantization of inputs (quantize_f32 below) is another rule
// than the NPU's integer requantization, although both round ties to even.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/status.h"

namespace rk {

enum class TieRule { kEven, kAwayFromZero, kUp };

// value * multiplier / 2^shift, to nearest, ties to even. 0 <= shift <= 62, and the product must
// fit int64.
inline int64_t scale_round(int64_t value, int64_t multiplier, int shift) {
  const int64_t product = value * multiplier;
  if (shift == 0) return product;
  const int64_t half = int64_t{1} << (shift - 1);
  const int64_t floor = product >> shift;
  const int64_t rest = product - (floor << shift);
  return floor + (rest > half || (rest == half && (floor & 1)));
}

// The same with a chosen tie rule, for the register emulator.
inline int64_t scale_round(int64_t value, int64_t multiplier, int shift, TieRule ties) {
  const int64_t product = value * multiplier;
  if (shift == 0) return product;
  const int64_t half = int64_t{1} << (shift - 1);
  const int64_t floor = product >> shift;
  const int64_t rest = product - (floor << shift);
  if (rest != half) return floor + (rest > half);
  switch (ties) {
    case TieRule::kEven:
      return floor + (floor & 1);
    case TieRule::kAwayFromZero:
      return floor + (product >= 0);
    case TieRule::kUp:
      return floor + 1;
  }
  return floor;
}

inline int8_t saturate_i8(int64_t value) {
  return static_cast<int8_t>(value < -128 ? -128 : value > 127 ? 127 : value);
}

// To nearest, ties to even, whatever rounding mode the caller's thread is in (bare std::nearbyint
// would follow it).
inline double round_even(double value) {
  const double floor = std::floor(value);
  const double rest = value - floor;
  if (rest > 0.5) return floor + 1;
  if (rest < 0.5) return floor;
  return std::fmod(floor, 2.0) == 0.0 ? floor : floor + 1;
}

// A positive real as scale / 2^shift with 16384 <= scale <= 32767, as the NPU's output and
// element-wise converters hold it.
struct ScaleShift {
  int32_t scale = 16384;
  int32_t shift = 14;
  bool operator==(const ScaleShift&) const = default;
};

// The shift with 16384 <= s * 2^shift < 32768, scale rounded to even; 32768 becomes 16384 with
// shift - 1. A value that needs a shift outside 0..50 does not exist on the chip: the caller names
// the layer.
inline Result<ScaleShift> to_scale_shift(double s) {
  if (!(s > 0) || !std::isfinite(s))
    return invalid_argument(str("scale ", s, " is not a positive number"));
  int exponent = 0;
  std::frexp(s, &exponent);   // s = f * 2^exponent, 0.5 <= f < 1
  int shift = 15 - exponent;  // so s * 2^shift is in [16384, 32768)
  int64_t scale = static_cast<int64_t>(round_even(std::ldexp(s, shift)));
  if (scale == 32768) {
    scale = 16384;
    --shift;
  }
  if (shift < 0 || shift > 50) {
    return invalid_argument(
        str("requantization scale ", s, " needs shift ", shift,
            "; the NPU has 0..50. The ranges of input, weights and output differ too much"));
  }
  return ScaleShift{static_cast<int32_t>(scale), shift};
}

// Float to int8 at the borders of a model: round(x / scale) + zero_point, ties to even, saturated;
// NaN gives the zero point. `scale` must be positive.
inline int8_t quantize_f32(float x, float scale, int32_t zero_point) {
  const float scaled = x / scale;
  if (!(scaled == scaled)) return saturate_i8(zero_point);
  if (scaled >= 1024.0f) return 127;
  if (scaled <= -1024.0f) return -128;
  return saturate_i8(static_cast<int64_t>(round_even(scaled)) + zero_point);
}

}  // namespace rk
