// SPDX-License-Identifier: Apache-2.0
// Cases of Gather.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> gather_cases() {
  static constexpr OpCase kCases[] = {
      {"the indices replace the axis", R"(
          input %x: f32[2,3] = [1, 2, 3, 4, 5, 6]
          input %i: i64[2,1] = [2, -3]
          %y = Gather(%x, %i) {axis=1}
          expect %y: f32[2,2,1] = [3, 1, 6, 4])"},
      {"a scalar index drops it", R"(
          input %x: i8[3,2] = [1, 2, 3, 4, 5, 6]
          input %i: i32[] = [-1]
          %y = Gather(%x, %i)
          expect %y: i8[2] = [5, 6])"},
      {"an index outside is an error", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1] = [2]
          %y = Gather(%x, %i)
          error input 1 ('indices') holds 2, expected -2 to 1)"},
      {"float indices are refused", R"(
          input %x: f32[2] = [1, 2]
          %y = Gather(%x, %x)
          error input 1 ('indices') is f32[2], expected dtype i32 or i64)"},
      {"an axis outside is refused", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1] = [0]
          %y = Gather(%x, %i) {axis=-2}
          error axis -2 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
