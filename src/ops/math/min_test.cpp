// SPDX-License-Identifier: Apache-2.0
// Cases of Min.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> min_cases() {
  static constexpr OpCase kCases[] = {
      {"three inputs broadcast together", R"(
          input %a: f16[2,1] = [1, 5]
          input %b: f16[3] = [0, 2, 9]
          input %c: f16[] = [3]
          %y = Min(%a, %b, %c)
          expect %y: f16[2,3] = [0, 1, 1, 0, 2, 3])"},
      {"u64 compares unsigned", R"(
          input %a: u64[1] = [18446744073709551615]
          input %b: u64[1] = [1]
          %y = Min(%a, %b)
          expect %y: u64[1] = [1])"},
  };
  return kCases;
}

}  // namespace rk::ops
