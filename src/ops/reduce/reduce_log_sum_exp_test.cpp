// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceLogSumExp.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_log_sum_exp_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceLogSumExp(%x, %a)
          %z = ReduceLogSumExp(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [3.13284523, 5.3132739]
          expect %z: f32[2,1] = [3.13284523, 5.3132739])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceLogSumExp(%x, %a) {keepdims=0}
          expect %y: f32[3] = [4.04858735, 5.00091147, 3.0001234])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceLogSumExp(%x) {keepdims=0}
          expect %y: f32[] = [5.42032676])"},
      {"large values do not overflow", R"(
          input %x: f32[2] = [1000, 1000]
          input %e: f32[0] = []
          %y = ReduceLogSumExp(%x)
          %z = ReduceLogSumExp(%e)
          expect %y: f32[1] = [1000.69315]
          expect %z: f32[1] = [-inf])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceLogSumExp(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceLogSumExp(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
