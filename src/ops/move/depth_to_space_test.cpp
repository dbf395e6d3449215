// SPDX-License-Identifier: Apache-2.0
// Cases of DepthToSpace.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> depth_to_space_cases() {
  static constexpr OpCase kCases[] = {
      {"DCR and CRD order the channels differently", R"(
          input %x: i8[1,8,1,1] = [0, 1, 2, 3, 4, 5, 6, 7]
          %y = DepthToSpace(%x) {blocksize=2}
          %z = DepthToSpace(%x) {blocksize=2, mode="CRD"}
          expect %y: i8[1,2,2,2] = [0, 2, 4, 6, 1, 3, 5, 7]
          expect %z: i8[1,2,2,2] = [0, 1, 2, 3, 4, 5, 6, 7])"},
      {"blocks interleave with pixels", R"(
          input %x: f32[1,4,1,2] = [0, 1, 10, 11, 20, 21, 30, 31]
          %y = DepthToSpace(%x) {blocksize=2}
          expect %y: f32[1,1,2,4] = [0, 10, 1, 11, 20, 30, 21, 31])"},
      {"channels that do not divide are refused", R"(
          input %x: f32[1,3,1,1] = [1, 2, 3]
          %y = DepthToSpace(%x) {blocksize=2}
          error expected channels that blocksize^2 = 4 divides)"},
      {"a blocksize of zero is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = DepthToSpace(%x) {blocksize=0}
          error attribute 'blocksize' is 0)"},
      {"three axes are refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = DepthToSpace(%x) {blocksize=1}
          error expected rank 4)"},
  };
  return kCases;
}

}  // namespace rk::ops
