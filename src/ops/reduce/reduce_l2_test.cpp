// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceL2.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_l2_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceL2(%x, %a)
          %z = ReduceL2(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [3.74165739, 8.77496439]
          expect %z: f32[2,1] = [3.74165739, 8.77496439])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceL2(%x, %a) {keepdims=0}
          expect %y: f32[3] = [4.12310563, 5.38516481, 6.70820393])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceL2(%x) {keepdims=0}
          expect %y: f32[] = [9.53939201])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceL2(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceL2(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
