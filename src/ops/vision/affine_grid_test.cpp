// SPDX-License-Identifier: Apache-2.0
// Cases of AffineGrid.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> affine_grid_cases() {
  static constexpr OpCase kCases[] = {
      {"the identity gives the middles of the pixels, width first", R"(
          input %t: f32[1,2,3] = [1, 0, 0, 0, 1, 0]
          const %s: i64[4] = [1, 1, 1, 2]
          %y = AffineGrid(%t, %s)
          expect %y: f32[1,1,2,2] = [-0.5, 0, 0.5, 0])"},
      {"aligned corners, a turn and a shift", R"(
          input %t: f32[1,2,3] = [0, 1, 0.25, 1, 0, 0]
          const %s: i64[4] = [1, 3, 2, 1]
          %y = AffineGrid(%t, %s) {align_corners=1}
          expect %y: f32[1,2,1,2] = [-0.75, -1, 1.25, -1])"},
      {"volumes have three coordinates", R"(
          input %t: f16[1,3,4] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 1]
          const %s: i64[5] = [1, 1, 2, 1, 1]
          %y = AffineGrid(%t, %s)
          expect %y: f16[1,2,1,1,3] = [0, 0, 0, 0, 0, 2])"},
      {"a matrix of another size is refused", R"(
          input %t: f32[1,3,4] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 1]
          const %s: i64[4] = [1, 1, 1, 1]
          %y = AffineGrid(%t, %s)
          error input 0 ('theta') is f32[1,3,4], expected shape [1,2,3])"},
      {"a size of three extents is refused", R"(
          input %t: f32[1,2,3] = [1, 0, 0, 0, 1, 0]
          const %s: i64[3] = [1, 1, 1]
          %y = AffineGrid(%t, %s)
          error input 1 ('size') has 3 extents, expected 4 or 5)"},
  };
  return kCases;
}

}  // namespace rk::ops
