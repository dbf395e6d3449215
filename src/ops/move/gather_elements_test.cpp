// SPDX-License-Identifier: Apache-2.0
// Cases of GatherElements.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> gather_elements_cases() {
  static constexpr OpCase kCases[] = {
      {"each index picks in its own place", R"(
          input %x: f32[2,3] = [1, 2, 3, 4, 5, 6]
          input %i: i64[2,2] = [2, 0, -1, 1]
          %y = GatherElements(%x, %i) {axis=1}
          expect %y: f32[2,2] = [3, 1, 6, 5])"},
      {"along the first axis, int8", R"(
          input %x: i8[2,2] = [1, 2, 3, 4]
          input %i: i32[3,1] = [1, 0, -1]
          %y = GatherElements(%x, %i)
          expect %y: i8[3,1] = [3, 1, 3])"},
      {"an index outside is an error", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1] = [-3]
          %y = GatherElements(%x, %i)
          error input 1 ('indices') holds -3, expected -2 to 1)"},
      {"another rank is refused", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1,1] = [0]
          %y = GatherElements(%x, %i)
          error input 1 ('indices') is [1,1], expected x's rank)"},
  };
  return kCases;
}

}  // namespace rk::ops
