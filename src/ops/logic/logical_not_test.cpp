// SPDX-License-Identifier: Apache-2.0
// Cases of Not.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> logical_not_cases() {
  static constexpr OpCase kCases[] = {
      {"negation", R"(
          input %x: bool[2] = [1, 0]
          %y = Not(%x)
          expect %y: bool[2] = [0, 1])"},
      {"numbers are refused", R"(
          input %a: i32[1] = [1]
          %y = Not(%a)
          error expected dtype bool)"},
  };
  return kCases;
}

}  // namespace rk::ops
