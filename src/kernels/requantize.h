// SPDX-License-Identifier: Apache-2.0
// The two ends of every integer kernel: an input brought to the kernel's inner unit and the inner
// unit brought to the output's int8. The rounding rule itself is rk::scale_round and lives in
// base/fixed_point.h.
//
// Note: scale_round multiplies in int64, so an unchecked scale from a file can
// overflow. Each family's check or pack function proves with scaled_bound() that nothing does,
// before anything runs.
#pragma once

#include <cstdint>

#include "base/fixed_point.h"

namespace rk::kernels {

// rne((x - zero_point) * scale / 2^shift)
struct InputStage {
  int32_t zero_point = 0;
  ScaleShift scale;
};

// sat8(rne(v * scale / 2^shift) + zero_point)
struct OutputStage {
  ScaleShift scale;
  int32_t zero_point = 0;
};

inline int64_t to_inner(int8_t x, const InputStage& stage) {
  return scale_round(int64_t{x} - stage.zero_point, stage.scale.scale, stage.scale.shift);
}

inline int8_t to_output(int64_t v, const OutputStage& stage) {
  return saturate_i8(scale_round(v, stage.scale.scale, stage.scale.shift) + stage.zero_point);
}

// What to_output and to_inner can be given: |value| <= bound gives |scale_round(value)| <= the
// result. Negative when the shift is outside 0..62 or the product or its rounding could leave
// int64; a negative bound stays negative, so stages chain.
inline int64_t scaled_bound(int64_t bound, ScaleShift scale) {
  if (bound < 0 || scale.shift < 0 || scale.shift > 62) return -1;
  const int64_t magnitude = scale.scale < 0 ? -int64_t{scale.scale} : int64_t{scale.scale};
  int64_t product = 0;
  if (__builtin_mul_overflow(bound, magnitude, &product)) return -1;
  if (product > (int64_t{1} << 62)) return -1;  // leaves room for the rounding and for one addition
  return (product >> scale.shift) + 1;
}

// The largest |x - zero_point| of an int8 x.
inline int64_t input_bound(int32_t zero_point) {
  const int64_t magnitude = zero_point < 0 ? -int64_t{zero_point} : int64_t{zero_point};
  return magnitude + 128;
}

}  // namespace rk::kernels
