// SPDX-License-Identifier: Apache-2.0
// Cases of Gelu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> gelu_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = Gelu(%x)
          expect %y: f32[5] = [-0.00404969409, -0.169970514, 0, 0.345731231, 2.22249494])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Gelu(%x)
          expect %y: f16[] = [0.841344746])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Gelu(%x)
          expect %y: f32[0,3] = [])"},
      {"the tanh form differs in the fourth digit", R"(
          input %x: f32[3] = [-1, 0.5, 2]
          %y = Gelu(%x) {approximate="tanh"}
          expect %y: f32[3] = [-0.158808009, 0.34571401, 1.95459769])"},
      {"another approximation is refused", R"(
          input %x: f32[1] = [0]
          %y = Gelu(%x) {approximate="fast"}
          error attribute 'approximate' is 'fast', expected one of 'none', 'tanh')"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Gelu(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
