// SPDX-License-Identifier: Apache-2.0
// Cases of Selu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> selu_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = Selu(%x)
          expect %y: f32[5] = [-1.25439545, -0.691758188, 0, 0.788025765, 1.57605153])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Selu(%x)
          expect %y: f16[] = [1.05070102])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Selu(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Selu(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
