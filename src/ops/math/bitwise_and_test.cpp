// SPDX-License-Identifier: Apache-2.0
// Cases of BitwiseAnd.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> bitwise_and_cases() {
  static constexpr OpCase kCases[] = {
      {"signed numbers broadcast", R"(
          input %a: i16[3] = [12, -1, 7]
          input %b: i16[2,1] = [10, 5]
          %y = BitwiseAnd(%a, %b)
          expect %y: i16[2,3] = [8, 10, 2, 4, 5, 5])"},
      {"bytes use all eight bits", R"(
          input %a: u8[2] = [255, 170]
          input %b: u8[] = [15]
          %y = BitwiseAnd(%a, %b)
          expect %y: u8[2] = [15, 10])"},
      {"floats are refused", R"(
          input %a: f32[1] = [1]
          %y = BitwiseAnd(%a, %a)
          error input 0 ('a') is f32[1], expected an integer dtype)"},
      {"two dtypes are refused", R"(
          input %a: i32[1] = [1]
          input %b: u32[1] = [1]
          %y = BitwiseAnd(%a, %b)
          error they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
