// SPDX-License-Identifier: Apache-2.0
// Cases of Floor.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> floor_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.5, -1, -0.25, 0.75, 2]
          %y = Floor(%x)
          expect %y: f32[5] = [-2, -1, -1, 0, 2])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Floor(%x)
          expect %y: f16[] = [1])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Floor(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Floor(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
