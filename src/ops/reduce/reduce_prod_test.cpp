// SPDX-License-Identifier: Apache-2.0
// Cases of ReduceProd.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reduce_prod_cases() {
  static constexpr OpCase kCases[] = {
      {"over the last axis, kept and dropped", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[1] = [-1]
          %y = ReduceProd(%x, %a)
          %z = ReduceProd(%x, %a) {keepdims=0}
          expect %y: f32[2,1,1] = [-6, -120]
          expect %z: f32[2,1] = [-6, -120])"},
      {"over the outer axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, 1]
          %y = ReduceProd(%x, %a) {keepdims=0}
          expect %y: f32[3] = [4, -10, -18])"},
      {"over everything without axes", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          %y = ReduceProd(%x) {keepdims=0}
          expect %y: f32[] = [720])"},
      {"nothing multiplies to one, int8 wraps", R"(
          input %x: f32[0] = []
          input %q: i8[2] = [100, 3]
          %y = ReduceProd(%x)
          %z = ReduceProd(%q)
          expect %y: f32[1] = [1]
          expect %z: i8[1] = [44])"},
      {"an axis twice is refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          const %a: i64[2] = [0, -3]
          %y = ReduceProd(%x, %a)
          error is given twice)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[2,1,3] = [1, -2, 3, 4, 5, -6]
          input %a: i64[1] = [0]
          %y = ReduceProd(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
