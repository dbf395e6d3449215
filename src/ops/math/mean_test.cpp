// SPDX-License-Identifier: Apache-2.0
// Cases of Mean.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> mean_cases() {
  static constexpr OpCase kCases[] = {
      {"three inputs broadcast together", R"(
          input %a: f32[2,1] = [1, 4]
          input %b: f32[2] = [2, 5]
          input %c: f32[] = [3]
          %y = Mean(%a, %b, %c)
          expect %y: f32[2,2] = [2, 3, 3, 4])"},
      {"half floats are summed in f32", R"(
          input %a: f16[1] = [40000]
          %y = Mean(%a, %a)
          expect %y: f16[1] = [40000])"},
      {"integers are refused", R"(
          input %a: i32[1] = [1]
          %y = Mean(%a)
          error expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
