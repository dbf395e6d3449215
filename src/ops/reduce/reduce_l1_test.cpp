// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceL1.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_l1_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceL1(%x, %a)
          %z = ReduceL1(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [6, 15]
          expect %z: f32[2,1] = [6, 15])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceL1(%x, %a) {keepdims=0}
          expect %y: f32[3] = [5, 7, 9])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceL1(%x) {keepdims=0}
          expect %y: f32[] = [21])"},
      {"integers", R"(
          input %x: i8[3] = [-3, 4, -5]
          %y = ReduceL1(%x)
          expect %y: i8[1] = [12])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceL1(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceL1(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
