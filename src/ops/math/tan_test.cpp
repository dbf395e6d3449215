// SPDX-License-Identifier: Apache-2.0
// Cases of Tan.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> tan_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = Tan(%x)
          expect %y: f32[5] = [-3.00956967, -0.54630249, 0, 0.93159646, 14.1014199])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Tan(%x)
          expect %y: f16[] = [1.55740772])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Tan(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Tan(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
