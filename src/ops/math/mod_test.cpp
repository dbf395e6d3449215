// SPDX-License-Identifier: Apache-2.0
// Cases of Mod.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> mod_cases() {
  static constexpr OpCase kCases[] = {
      {"the divisor gives the sign", R"(
          input %a: i32[6] = [-4, 7, 5, 4, -7, 8]
          input %b: i32[6] = [2, -3, 8, -2, 3, 5]
          %y = Mod(%a, %b)
          expect %y: i32[6] = [0, -2, 5, 0, 2, 3])"},
      {"with fmod the dividend does", R"(
          input %a: i32[6] = [-4, 7, 5, 4, -7, 8]
          input %b: i32[6] = [2, -3, 8, -2, 3, 5]
          %y = Mod(%a, %b) {fmod=1}
          expect %y: i32[6] = [0, 1, 5, 0, -1, 3])"},
      {"floats with fmod", R"(
          input %a: f32[3] = [-4.25, 7.5, 5]
          input %b: f32[3] = [2, -3.5, 8]
          %y = Mod(%a, %b) {fmod=1}
          expect %y: f32[3] = [-0.25, 0.5, 5])"},
      {"the most negative integer and -1", R"(
          input %a: i64[1] = [-9223372036854775808]
          input %b: i64[1] = [-1]
          %y = Mod(%a, %b)
          expect %y: i64[1] = [0])"},
      {"floats without fmod are refused", R"(
          input %a: f32[1] = [1]
          %y = Mod(%a, %a)
          error attribute 'fmod' is 0, expected 1 for dtype f32)"},
      {"another fmod is refused", R"(
          input %a: i32[1] = [1]
          %y = Mod(%a, %a) {fmod=2}
          error attribute 'fmod' is 2, expected 0 to 1)"},
      {"zero is an error", R"(
          input %a: u8[1] = [1]
          input %b: u8[1] = [0]
          %y = Mod(%a, %b)
          error integer remainder by zero)"},
  };
  return kCases;
}

}  // namespace rk::ops
