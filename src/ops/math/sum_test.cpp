// SPDX-License-Identifier: Apache-2.0
// Cases of Sum.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> sum_cases() {
  static constexpr OpCase kCases[] = {
      {"three inputs broadcast together", R"(
          input %a: f32[2,1] = [1, 2]
          input %b: f32[2] = [10, 20]
          input %c: f32[] = [100]
          %y = Sum(%a, %b, %c)
          expect %y: f32[2,2] = [111, 121, 112, 122])"},
      {"one input, integers", R"(
          input %a: i8[1] = [5]
          %y = Sum(%a)
          expect %y: i8[1] = [5])"},
      {"no input is refused", R"(
          %y = Sum()
          error no inputs found)"},
  };
  return kCases;
}

}  // namespace rk::ops
