// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceMean.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_mean_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceMean(%x, %a)
          %z = ReduceMean(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [0.666666667, 1]
          expect %z: f32[2,1] = [0.666666667, 1])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceMean(%x, %a) {keepdims=0}
          expect %y: f32[3] = [2.5, 1.5, -1.5])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceMean(%x) {keepdims=0}
          expect %y: f32[] = [0.833333333])"},
      {"integers truncate", R"(
          input %x: i32[2] = [-3, 0]
          %y = ReduceMean(%x)
          expect %y: i32[1] = [-1])"},
      {"half floats are summed in f32", R"(
          input %x: f16[4] = [2048, 1, 1, 1]
          %y = ReduceMean(%x)
          expect %y: f16[1] = [512.75])",
       1e-3},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceMean(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceMean(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
