// SPDX-License-Identifier: Apache-2.0
// Cases of Softplus.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> softplus_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = Softplus(%x)
          expect %y: f32[5] = [0.0485873516, 0.386871006, 0.693147181, 0.974076984, 2.35020656])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Softplus(%x)
          expect %y: f16[] = [1.31326169])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Softplus(%x)
          expect %y: f32[0,3] = [])"},
      {"large arguments do not overflow", R"(
          input %x: f32[2] = [-100, 100]
          %y = Softplus(%x)
          expect %y: f32[2] = [0, 100])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Softplus(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
