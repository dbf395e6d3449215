// SPDX-License-Identifier: Apache-2.0
// Cases of Reshape.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reshape_cases() {
  static constexpr OpCase kCases[] = {
      {"minus one is computed, zero copies", R"(
          input %x: f32[2,3,2] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
          const %s: i64[3] = [0, -1, 1]
          %y = Reshape(%x, %s)
          expect %y: f32[2,6,1] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])"},
      {"to a scalar", R"(
          input %x: i8[1,1] = [7]
          const %s: i64[0] = []
          %y = Reshape(%x, %s)
          expect %y: i8[] = [7])"},
      {"allowzero keeps a zero", R"(
          input %x: f32[0,3] = []
          const %s: i64[2] = [3, 0]
          %y = Reshape(%x, %s) {allowzero=1}
          expect %y: f32[3,0] = [])"},
      {"another element count is refused", R"(
          input %x: f32[4] = [1, 2, 3, 4]
          const %s: i64[1] = [3]
          %y = Reshape(%x, %s)
          error input 1 ('shape') is [3], which does not fit the 4 elements of [4])"},
      {"a division with a rest is refused", R"(
          input %x: f32[4] = [1, 2, 3, 4]
          const %s: i64[2] = [3, -1]
          %y = Reshape(%x, %s)
          error does not fit the 4 elements)"},
      {"two unknowns are refused", R"(
          input %x: f32[4] = [1, 2, 3, 4]
          const %s: i64[2] = [-1, -1]
          %y = Reshape(%x, %s)
          error expected at most one -1)"},
      {"a zero beyond the rank is refused", R"(
          input %x: f32[1] = [1]
          const %s: i64[2] = [1, 0]
          %y = Reshape(%x, %s)
          error does not fit the 1 elements)"},
      {"extents that overflow are refused", R"(
          input %x: f32[1] = [1]
          const %s: i64[2] = [4611686018427387904, 4611686018427387904]
          %y = Reshape(%x, %s)
          error element count at most 2^31)"},
      {"a shape known at run time only is refused", R"(
          input %x: f32[1] = [1]
          input %s: i64[1] = [1]
          %y = Reshape(%x, %s)
          error input 1 ('shape') is computed at run time; it must be a constant)"},
  };
  return kCases;
}

}  // namespace rk::ops
