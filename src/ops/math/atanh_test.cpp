// SPDX-License-Identifier: Apache-2.0
// Cases of Atanh.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> atanh_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 3 places", R"(
          input %x: f32[3] = [-0.5, 0, 0.25]
          %y = Atanh(%x)
          expect %y: f32[3] = [-0.549306144, 0, 0.255412812])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Atanh(%x)
          expect %y: f16[] = [inf])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Atanh(%x)
          expect %y: f32[0,3] = [])"},
      {"outside the domain it is not a number", R"(
          input %x: f32[1] = [2]
          %y = Atanh(%x)
          expect %y: f32[1] = [nan])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Atanh(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
