// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceMax.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_max_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceMax(%x, %a)
          %z = ReduceMax(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [3, 5]
          expect %z: f32[2,1] = [3, 5])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceMax(%x, %a) {keepdims=0}
          expect %y: f32[3] = [4, 5, 3])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceMax(%x) {keepdims=0}
          expect %y: f32[] = [5])"},
      {"int8 and bool", R"(
          input %x: i8[3] = [-128, 0, 127]
          input %b: bool[2] = [0, 1]
          %y = ReduceMax(%x)
          %z = ReduceMax(%b)
          expect %y: i8[1] = [127]
          expect %z: bool[1] = [1])"},
      {"nothing has the limit, a NaN wins", R"(
          input %x: f32[0] = []
          input %n: f32[3] = [1, nan, 2]
          %y = ReduceMax(%x)
          %z = ReduceMax(%n)
          expect %y: f32[1] = [-inf]
          expect %z: f32[1] = [nan])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceMax(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceMax(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
