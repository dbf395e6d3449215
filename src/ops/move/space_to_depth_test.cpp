// SPDX-License-Identifier: Apache-2.0
// Cases of SpaceToDepth.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> space_to_depth_cases() {
  static constexpr OpCase kCases[] = {
      {"the inverse of DepthToSpace", R"(
          input %x: f32[1,1,2,4] = [0, 10, 1, 11, 20, 30, 21, 31]
          %y = SpaceToDepth(%x) {blocksize=2}
          expect %y: f32[1,4,1,2] = [0, 1, 10, 11, 20, 21, 30, 31])"},
      {"block offsets are outermost among the channels", R"(
          input %x: i8[1,2,2,2] = [0, 2, 4, 6, 1, 3, 5, 7]
          %y = SpaceToDepth(%x) {blocksize=2}
          expect %y: i8[1,8,1,1] = [0, 1, 2, 3, 4, 5, 6, 7])"},
      {"extents that do not divide are refused", R"(
          input %x: f32[1,1,3,2] = [1, 2, 3, 4, 5, 6]
          %y = SpaceToDepth(%x) {blocksize=2}
          error expected height and width that blocksize 2 divides)"},
  };
  return kCases;
}

}  // namespace rk::ops
