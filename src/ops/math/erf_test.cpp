// SPDX-License-Identifier: Apache-2.0
// Cases of Erf.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> erf_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = Erf(%x)
          expect %y: f32[5] = [-0.99997791, -0.711155634, 0, 0.520499878, 0.998537283])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Erf(%x)
          expect %y: f16[] = [0.842700793])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Erf(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Erf(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
