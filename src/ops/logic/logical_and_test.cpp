// SPDX-License-Identifier: Apache-2.0
// Cases of And.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> logical_and_cases() {
  static constexpr OpCase kCases[] = {
      {"the truth table", R"(
          input %a: bool[2,1] = [1, 0]
          input %b: bool[2] = [1, 0]
          %y = And(%a, %b)
          expect %y: bool[2,2] = [1, 0, 0, 0])"},
      {"numbers are refused", R"(
          input %a: f32[1] = [1]
          %y = And(%a, %a)
          error expected dtype bool)"},
  };
  return kCases;
}

}  // namespace rk::ops
