// SPDX-License-Identifier: Apache-2.0
// Cases of Reciprocal.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reciprocal_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 3 places", R"(
          input %x: f32[3] = [-2, 0.25, 3]
          %y = Reciprocal(%x)
          expect %y: f32[3] = [-0.5, 4, 0.333333333])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Reciprocal(%x)
          expect %y: f16[] = [1])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Reciprocal(%x)
          expect %y: f32[0,3] = [])"},
      {"zero gives infinity", R"(
          input %x: f32[1] = [0]
          %y = Reciprocal(%x)
          expect %y: f32[1] = [inf])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Reciprocal(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
