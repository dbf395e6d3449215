// SPDX-License-Identifier: Apache-2.0
// What the vector kernels of sum_i8 agree on. Private to kernels/eltwise; baseline code, as float_stages.h is.
#pragma once

#include <cstdint>

#include "kernels/eltwise/eltwise.h"
#include "kernels/float_stages.h"

namespace rk::kernels {

// Every stage is exact in float32, and a ReLU is a lower bound of the result (rounding is monotone, unless a negative
// scale turns it around). The sum itself is not rounded: any integer that a float holds will do.
inline constexpr int64_t kFloatIntegers = 1 << 24;

// input_bound to the last unit: 255 and not 256 for -128, which keeps a scale of 16384 below the limit.
inline int64_t exact_input_bound(int32_t zero_point) {
  return zero_point < 0 ? 127 - int64_t{zero_point} : 128 + int64_t{zero_point};
}

inline bool sum_fits_float(const SumI8Args& args) {
  int64_t bound = 0;
  for (int32_t i = 0; i < args.input_count; ++i) {
    const InputStage& stage = args.inputs[i].stage;
    const int64_t term = float_bound(exact_input_bound(stage.zero_point), stage.scale);
    if (term < 0) return false;
    bound += term;
    if (bound >= kFloatIntegers) return false;
  }
  const OutputStage& output = args.output_stage;
  const bool turned = args.relu && output.scale.scale < 0;
  if (turned || !exact_in_float(output.scale)) return false;
  const int64_t result = scaled_bound(bound, output.scale);
  return result >= 0 && result < kFloatLimit && output_fits_float(0, output);
}

inline int8_t lower_bound(const SumI8Args& args) {
  return args.relu ? to_output(0, args.output_stage) : int8_t{-128};
}

struct ElementRange {
  int64_t begin;
  int64_t end;
};
inline ElementRange elements_of(IndexRange units, int64_t elements) {
  const int64_t end = units.end * kEltwiseRun;
  return {units.begin * kEltwiseRun, end < elements ? end : elements};
}

}  // namespace rk::kernels
