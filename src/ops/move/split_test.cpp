// SPDX-License-Identifier: Apache-2.0
// Cases of Split.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> split_cases() {
  static constexpr OpCase kCases[] = {
      {"lengths given, negative axis", R"(
          input %x: f32[2,3] = [1, 2, 3, 4, 5, 6]
          const %s: i64[2] = [1, 2]
          %a, %b = Split(%x, %s) {axis=-1}
          expect %a: f32[2,1] = [1, 4]
          expect %b: f32[2,2] = [2, 3, 5, 6])"},
      {"the last part may be smaller, even empty", R"(
          input %x: i8[5] = [1, 2, 3, 4, 5]
          %a, %b = Split(%x)
          %c, %d, %e, %f = Split(%x) {num_outputs=4}
          expect %a: i8[3] = [1, 2, 3]
          expect %b: i8[2] = [4, 5]
          expect %e: i8[1] = [5]
          expect %f: i8[0] = [])"},
      {"lengths that do not add up are refused", R"(
          input %x: f32[3] = [1, 2, 3]
          const %s: i64[2] = [1, 1]
          %a, %b = Split(%x, %s)
          error input 1 ('split') is [1,1], expected lengths that add up to 3)"},
      {"a negative length is refused", R"(
          input %x: f32[3] = [1, 2, 3]
          const %s: i64[2] = [-1, 4]
          %a, %b = Split(%x, %s)
          error expected lengths that add up to 3)"},
      {"another number of outputs is refused", R"(
          input %x: f32[3] = [1, 2, 3]
          const %s: i64[1] = [3]
          %a, %b = Split(%x, %s)
          error input 1 ('split') has 1 values, the node has 2 outputs)"},
      {"num_outputs that is not the outputs is refused", R"(
          input %x: f32[3] = [1, 2, 3]
          %a, %b = Split(%x) {num_outputs=3}
          error attribute 'num_outputs' is 3, the node has 2 outputs)"},
  };
  return kCases;
}

}  // namespace rk::ops
