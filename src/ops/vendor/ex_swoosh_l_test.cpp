// SPDX-License-Identifier: Apache-2.0
// Cases of exSwooshL.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_swoosh_l_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = exSwooshL(%x)
          expect %y: f32[5] = [0.0702337982, 0.0160477448, -0.0168500721, -0.0569586283, -0.0761102657])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = exSwooshL(%x)
          expect %y: f16[] = [-0.0664126484])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = exSwooshL(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = exSwooshL(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
