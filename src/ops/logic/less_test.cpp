// SPDX-License-Identifier: Apache-2.0
// Cases of Less.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> less_cases() {
  static constexpr OpCase kCases[] = {
      {"numbers, with broadcasting", R"(
          input %a: f32[3] = [1, 2, 3]
          input %b: f32[] = [2]
          %y = Less(%a, %b)
          expect %y: bool[3] = [1, 0, 0])"},
      {"i64 beyond 2^53", R"(
          input %a: i64[1] = [9007199254740993]
          input %b: i64[1] = [9007199254740992]
          %y = Less(%a, %b)
          expect %y: bool[1] = [0])"},
      {"a NaN compares false", R"(
          input %a: f32[1] = [nan]
          %y = Less(%a, %a)
          expect %y: bool[1] = [0])"},
      {"dtypes that differ are refused", R"(
          input %a: f32[1] = [1]
          input %b: f64[1] = [1]
          %y = Less(%a, %b)
          error they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
