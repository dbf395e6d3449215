// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceSum.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_sum_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceSum(%x, %a)
          %z = ReduceSum(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [2, 3]
          expect %z: f32[2,1] = [2, 3])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceSum(%x, %a) {keepdims=0}
          expect %y: f32[3] = [5, 3, -3])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceSum(%x) {keepdims=0}
          expect %y: f32[] = [5])"},
      {"nothing is reduced with noop_with_empty_axes", R"(
          input %x: f32[2] = [2, 3]
          %y = ReduceSum(%x) {noop_with_empty_axes=1}
          expect %y: f32[2] = [2, 3])"},
      {"nothing sums to zero, integers are exact", R"(
          input %x: i64[0,2] = []
          input %l: i64[2] = [9007199254740993, 2]
          const %a: i64[1] = [0]
          %y = ReduceSum(%x, %a) {keepdims=0}
          %z = ReduceSum(%l)
          expect %y: i64[2] = [0, 0]
          expect %z: i64[1] = [9007199254740995])"},
      {"bool is refused", R"(
          input %x: bool[1] = [1]
          %y = ReduceSum(%x)
          error expected a number dtype)"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceSum(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceSum(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
