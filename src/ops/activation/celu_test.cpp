// SPDX-License-Identifier: Apache-2.0
// Cases of Celu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> celu_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = Celu(%x) {alpha=2}
          expect %y: f32[5] = [-0.929477143, -0.442398434, 0, 0.75, 1.5])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Celu(%x) {alpha=2}
          expect %y: f16[] = [1])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Celu(%x) {alpha=2}
          expect %y: f32[0,3] = [])"},
      {"an alpha of zero is refused", R"(
          input %x: f32[1] = [0]
          %y = Celu(%x) {alpha=0}
          error attribute 'alpha' is 0)"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Celu(%x) {alpha=2}
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
