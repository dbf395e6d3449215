// SPDX-License-Identifier: Apache-2.0
// Cases of Neg.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> neg_cases() {
  static constexpr OpCase kCases[] = {
      {"signs turn", R"(
          input %x: f32[3] = [-1.5, 0, 2]
          %y = Neg(%x)
          expect %y: f32[3] = [1.5, 0, -2])"},
      {"integers wrap", R"(
          input %x: i32[2] = [-2147483648, 5]
          %y = Neg(%x)
          expect %y: i32[2] = [-2147483648, -5])"},
      {"bool is refused", R"(
          input %x: bool[1] = [1]
          %y = Neg(%x)
          error expected a number dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
