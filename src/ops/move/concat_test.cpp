// SPDX-License-Identifier: Apache-2.0
// Cases of Concat.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> concat_cases() {
  static constexpr OpCase kCases[] = {
      {"along a negative axis, one input empty", R"(
          input %a: f32[2,1] = [1, 4]
          input %b: f32[2,2] = [2, 3, 5, 6]
          input %c: f32[2,0] = []
          %y = Concat(%a, %c, %b) {axis=-1}
          expect %y: f32[2,3] = [1, 2, 3, 4, 5, 6])"},
      {"along the first axis, int8", R"(
          input %a: i8[1,2] = [-1, -2]
          input %b: i8[2,2] = [3, 4, 5, 6]
          %y = Concat(%a, %b) {axis=0}
          expect %y: i8[3,2] = [-1, -2, 3, 4, 5, 6])"},
      {"one input", R"(
          input %a: bool[2] = [1, 0]
          %y = Concat(%a) {axis=0}
          expect %y: bool[2] = [1, 0])"},
      {"extents that differ are refused", R"(
          input %a: f32[2,1] = [1, 2]
          input %b: f32[1,1] = [1]
          %y = Concat(%a, %b) {axis=1}
          error input 1 is [1,1], expected the extents of input 0 [2,1] except on axis 1)"},
      {"an axis outside is refused", R"(
          input %a: f32[2] = [1, 2]
          %y = Concat(%a) {axis=1}
          error axis 1 is outside rank 1; expected -1 to 0)"},
      {"no input is refused", R"(
          %y = Concat() {axis=0}
          error no inputs found)"},
  };
  return kCases;
}

}  // namespace rk::ops
