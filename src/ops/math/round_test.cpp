// SPDX-License-Identifier: Apache-2.0
// Cases of Round.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> round_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 7 places", R"(
          input %x: f32[7] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6]
          %y = Round(%x)
          expect %y: f32[7] = [-2, -2, 0, 0, 2, 2, 3])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Round(%x)
          expect %y: f16[] = [1])",
       1e-3},
      {"float64 is rounded as it is", R"(
          input %x: f64[3] = [33554433.5, 33554434.5, -33554435.5]
          %y = Round(%x)
          expect %y: f64[3] = [33554434, 33554434, -33554436])"},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Round(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Round(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
