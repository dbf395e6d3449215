// SPDX-License-Identifier: Apache-2.0
// Cases of Exp.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> exp_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = Exp(%x)
          expect %y: f32[5] = [0.0497870684, 0.472366553, 1, 1.64872127, 9.48773584])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Exp(%x)
          expect %y: f16[] = [2.71828183])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Exp(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Exp(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
