// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceSumSquare.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_sum_square_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceSumSquare(%x, %a)
          %z = ReduceSumSquare(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [14, 77]
          expect %z: f32[2,1] = [14, 77])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceSumSquare(%x, %a) {keepdims=0}
          expect %y: f32[3] = [17, 29, 45])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceSumSquare(%x) {keepdims=0}
          expect %y: f32[] = [91])"},
      {"integers", R"(
          input %x: i32[2] = [-3, 4]
          %y = ReduceSumSquare(%x)
          expect %y: i32[1] = [25])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceSumSquare(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceSumSquare(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
