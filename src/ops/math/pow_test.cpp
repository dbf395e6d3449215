// SPDX-License-Identifier: Apache-2.0
// Cases of Pow.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> pow_cases() {
  static constexpr OpCase kCases[] = {
      {"floats", R"(
          input %a: f32[4] = [2, 9, 4, -8]
          input %b: f32[4] = [3, 0.5, -0.5, 2]
          %y = Pow(%a, %b)
          expect %y: f32[4] = [8, 3, 0.5, 64])"},
      {"the exponent may have another dtype", R"(
          input %a: f32[3] = [1, 2, 3]
          input %b: i64[1] = [2]
          %y = Pow(%a, %b)
          expect %y: f32[3] = [1, 4, 9])"},
      {"integers are exact", R"(
          input %a: i64[4] = [3, -1, 2, 7]
          input %b: i64[4] = [39, 3, -1, 0]
          %y = Pow(%a, %b)
          expect %y: i64[4] = [4052555153018976267, -1, 0, 1])"},
      {"an integer base with a float exponent truncates", R"(
          input %a: i32[2] = [2, 10]
          input %b: f32[] = [0.5]
          %y = Pow(%a, %b)
          expect %y: i32[2] = [1, 3])"},
      {"bool is refused", R"(
          input %a: bool[1] = [1]
          %y = Pow(%a, %a)
          error expected a number dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
