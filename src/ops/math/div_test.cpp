// SPDX-License-Identifier: Apache-2.0
// Cases of Div.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> div_cases() {
  static constexpr OpCase kCases[] = {
      {"floats", R"(
          input %a: f32[4] = [1, -3, 1, 0]
          input %b: f32[4] = [4, 2, 0, 0]
          %y = Div(%a, %b)
          expect %y: f32[4] = [0.25, -1.5, inf, nan])"},
      {"integers truncate towards zero", R"(
          input %a: i32[4] = [7, -7, 7, -2147483648]
          input %b: i32[4] = [2, 2, -2, -1]
          %y = Div(%a, %b)
          expect %y: i32[4] = [3, -3, -3, -2147483648])"},
      {"u64 divides unsigned", R"(
          input %a: u64[1] = [18446744073709551614]
          input %b: u64[1] = [2]
          %y = Div(%a, %b)
          expect %y: u64[1] = [9223372036854775807])"},
      {"an integer divisor of zero is an error", R"(
          input %a: i64[1] = [1]
          input %b: i64[1] = [0]
          %y = Div(%a, %b)
          error integer division by zero)"},
  };
  return kCases;
}

}  // namespace rk::ops
