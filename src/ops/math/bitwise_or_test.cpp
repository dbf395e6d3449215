// SPDX-License-Identifier: Apache-2.0
// Cases of BitwiseOr.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> bitwise_or_cases() {
  static constexpr OpCase kCases[] = {
      {"signed numbers broadcast", R"(
          input %a: i16[3] = [12, -1, 7]
          input %b: i16[2,1] = [10, 5]
          %y = BitwiseOr(%a, %b)
          expect %y: i16[2,3] = [14, -1, 15, 13, -1, 7])"},
      {"bytes use all eight bits", R"(
          input %a: u8[2] = [255, 170]
          input %b: u8[] = [15]
          %y = BitwiseOr(%a, %b)
          expect %y: u8[2] = [255, 175])"},
      {"floats are refused", R"(
          input %a: f32[1] = [1]
          %y = BitwiseOr(%a, %a)
          error input 0 ('a') is f32[1], expected an integer dtype)"},
      {"two dtypes are refused", R"(
          input %a: i32[1] = [1]
          input %b: u32[1] = [1]
          %y = BitwiseOr(%a, %b)
          error they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
