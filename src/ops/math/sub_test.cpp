// SPDX-License-Identifier: Apache-2.0
// Cases of Sub.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> sub_cases() {
  static constexpr OpCase kCases[] = {
      {"the middle axis broadcasts", R"(
          input %a: f32[2,2,1] = [1, 2, 3, 4]
          input %b: f32[1,2] = [10, 20]
          %y = Sub(%a, %b)
          expect %y: f32[2,2,2] = [-9, -19, -8, -18, -7, -17, -6, -16])"},
      {"unsigned integers wrap", R"(
          input %a: u8[1] = [1]
          input %b: u8[1] = [2]
          %y = Sub(%a, %b)
          expect %y: u8[1] = [255])"},
  };
  return kCases;
}

}  // namespace rk::ops
