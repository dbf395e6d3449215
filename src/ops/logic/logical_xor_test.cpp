// SPDX-License-Identifier: Apache-2.0
// Cases of Xor.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> logical_xor_cases() {
  static constexpr OpCase kCases[] = {
      {"the truth table", R"(
          input %a: bool[2,1] = [1, 0]
          input %b: bool[2] = [1, 0]
          %y = Xor(%a, %b)
          expect %y: bool[2,2] = [0, 1, 1, 0])"},
      {"numbers are refused", R"(
          input %a: f32[1] = [1]
          %y = Xor(%a, %a)
          error expected dtype bool)"},
  };
  return kCases;
}

}  // namespace rk::ops
