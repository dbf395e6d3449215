// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceLogSum.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_log_sum_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceLogSum(%x, %a)
          %z = ReduceLogSum(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [0.693147181, 1.09861229]
          expect %z: f32[2,1] = [0.693147181, 1.09861229])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceLogSum(%x, %a) {keepdims=0}
          expect %y: f32[3] = [1.60943791, 1.09861229, nan])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceLogSum(%x) {keepdims=0}
          expect %y: f32[] = [1.60943791])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceLogSum(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceLogSum(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
