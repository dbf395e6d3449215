// SPDX-License-Identifier: Apache-2.0
// Cases of Atan.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> atan_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = Atan(%x)
          expect %y: f32[5] = [-0.896055385, -0.463647609, 0, 0.643501109, 0.982793723])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Atan(%x)
          expect %y: f16[] = [0.785398163])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Atan(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Atan(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
