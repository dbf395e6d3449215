// SPDX-License-Identifier: Apache-2.0
// Cases of HardSwish.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> hard_swish_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 7 places", R"(
          input %x: f32[7] = [-4, -3, -1.5, 0, 1.5, 3, 4]
          %y = HardSwish(%x)
          expect %y: f32[7] = [0, 0, -0.375, 0, 1.125, 3, 4])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = HardSwish(%x)
          expect %y: f16[] = [0.666666667])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = HardSwish(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = HardSwish(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
