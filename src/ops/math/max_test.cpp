// SPDX-License-Identifier: Apache-2.0
// Cases of Max.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> max_cases() {
  static constexpr OpCase kCases[] = {
      {"three inputs broadcast together", R"(
          input %a: f32[2,1] = [1, 5]
          input %b: f32[3] = [0, 2, 9]
          input %c: f32[] = [3]
          %y = Max(%a, %b, %c)
          expect %y: f32[2,3] = [3, 3, 9, 5, 5, 9])"},
      {"one input", R"(
          input %a: i8[2] = [-1, 1]
          %y = Max(%a)
          expect %y: i8[2] = [-1, 1])"},
      {"a NaN wins", R"(
          input %a: f32[2] = [nan, 1]
          input %b: f32[2] = [1, nan]
          %y = Max(%a, %b)
          expect %y: f32[2] = [nan, nan])"},
      {"no input is refused", R"(
          %y = Max()
          error no inputs found)"},
  };
  return kCases;
}

}  // namespace rk::ops
