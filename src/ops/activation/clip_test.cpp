// SPDX-License-Identifier: Apache-2.0
// Cases of Clip.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> clip_cases() {
  static constexpr OpCase kCases[] = {
      {"both bounds", R"(
          input %x: f32[5] = [-2, -1, 0.5, 6, 7]
          const %lo: f32[] = [-1]
          const %hi: f32[] = [6]
          %y = Clip(%x, %lo, %hi)
          expect %y: f32[5] = [-1, -1, 0.5, 6, 6])"},
      {"only the upper bound", R"(
          input %x: f32[2] = [-9, 9]
          const %hi: f32[] = [1]
          %y = Clip(%x, _, %hi)
          expect %y: f32[2] = [-9, 1])"},
      {"no bounds at all", R"(
          input %x: i8[2] = [-128, 127]
          %y = Clip(%x)
          expect %y: i8[2] = [-128, 127])"},
      {"crossed bounds give the upper one", R"(
          input %x: i32[3] = [0, 5, 9]
          input %lo: i32[1] = [7]
          input %hi: i32[1] = [3]
          %y = Clip(%x, %lo, %hi)
          expect %y: i32[3] = [3, 3, 3])"},
      {"infinities are kept without bounds", R"(
          input %x: f32[2] = [-inf, inf]
          %y = Clip(%x)
          expect %y: f32[2] = [-inf, inf])"},
      {"a bound of several elements is refused", R"(
          input %x: f32[1] = [0]
          const %lo: f32[2] = [0, 1]
          %y = Clip(%x, %lo)
          error input 1 ('low') is f32[2], expected one element)"},
      {"a bound of another dtype is refused", R"(
          input %x: f32[1] = [0]
          const %lo: i32[] = [0]
          %y = Clip(%x, %lo)
          error they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
