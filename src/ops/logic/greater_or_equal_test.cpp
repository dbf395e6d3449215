// SPDX-License-Identifier: Apache-2.0
// Cases of GreaterOrEqual.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> greater_or_equal_cases() {
  static constexpr OpCase kCases[] = {
      {"numbers, with broadcasting", R"(
          input %a: f32[3] = [1, 2, 3]
          input %b: f32[] = [2]
          %y = GreaterOrEqual(%a, %b)
          expect %y: bool[3] = [0, 1, 1])"},
      {"i64 beyond 2^53", R"(
          input %a: i64[1] = [9007199254740993]
          input %b: i64[1] = [9007199254740992]
          %y = GreaterOrEqual(%a, %b)
          expect %y: bool[1] = [1])"},
      {"a NaN compares false", R"(
          input %a: f32[1] = [nan]
          %y = GreaterOrEqual(%a, %a)
          expect %y: bool[1] = [0])"},
      {"dtypes that differ are refused", R"(
          input %a: f32[1] = [1]
          input %b: f64[1] = [1]
          %y = GreaterOrEqual(%a, %b)
          error they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
