// SPDX-License-Identifier: Apache-2.0
// Cases of Elu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> elu_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = Elu(%x)
          expect %y: f32[5] = [-0.950212932, -0.527633447, 0, 0.5, 2.25])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Elu(%x)
          expect %y: f16[] = [1])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Elu(%x)
          expect %y: f32[0,3] = [])"},
      {"alpha scales below zero", R"(
          input %x: f32[2] = [-1, 1]
          %y = Elu(%x) {alpha=2}
          expect %y: f32[2] = [-1.26424112, 1])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Elu(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
