// SPDX-License-Identifier: Apache-2.0
// Cases of exSwooshR.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_swoosh_r_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = exSwooshR(%x)
          expect %y: f32[5] = [-0.113055128, -0.071848409, 5.18222854e-10, 0.202677733, 0.540815297])",
       1e-6},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = exSwooshR(%x)
          expect %y: f16[] = [0.299885494])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = exSwooshR(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = exSwooshR(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
