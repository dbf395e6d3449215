// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceMin.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_min_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceMin(%x, %a)
          %z = ReduceMin(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [-2, -6]
          expect %z: f32[2,1] = [-2, -6])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceMin(%x, %a) {keepdims=0}
          expect %y: f32[3] = [1, -2, -6])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceMin(%x) {keepdims=0}
          expect %y: f32[] = [-6])"},
      {"int8 and bool", R"(
          input %x: i8[3] = [-128, 0, 127]
          input %b: bool[2] = [0, 1]
          %y = ReduceMin(%x)
          %z = ReduceMin(%b)
          expect %y: i8[1] = [-128]
          expect %z: bool[1] = [0])"},
      {"nothing has the limit, a NaN wins", R"(
          input %x: f32[0] = []
          input %n: f32[3] = [1, nan, 2]
          %y = ReduceMin(%x)
          %z = ReduceMin(%n)
          expect %y: f32[1] = [inf]
          expect %z: f32[1] = [nan])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceMin(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceMin(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
