// SPDX-License-Identifier: Apache-2.0
// Cases of exSwish.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_swish_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = exSwish(%x)
          expect %y: f32[5] = [-0.14227762, -0.240615976, 0, 0.311229666, 2.0354637])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = exSwish(%x)
          expect %y: f16[] = [0.731058579])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = exSwish(%x)
          expect %y: f32[0,3] = [])"},
      {"beta is inside the sigmoid", R"(
          input %x: f32[1] = [2]
          %y = exSwish(%x) {beta=1.5}
          expect %y: f32[1] = [1.90514825])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = exSwish(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
