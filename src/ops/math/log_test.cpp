// SPDX-License-Identifier: Apache-2.0
// Cases of Log.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> log_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 4 places", R"(
          input %x: f32[4] = [0.25, 1, 3, 10.5]
          %y = Log(%x)
          expect %y: f32[4] = [-1.38629436, 0, 1.09861229, 2.35137526])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Log(%x)
          expect %y: f16[] = [0])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Log(%x)
          expect %y: f32[0,3] = [])"},
      {"zero and below", R"(
          input %x: f32[2] = [0, -1]
          %y = Log(%x)
          expect %y: f32[2] = [-inf, nan])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Log(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
