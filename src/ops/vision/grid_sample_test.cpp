// SPDX-License-Identifier: Apache-2.0
// Cases of GridSample.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> grid_sample_cases() {
  static constexpr OpCase kCases[] = {
      {"the middle mixes four pixels, corners lie half a pixel outside", R"(
          input %x: f32[1,1,2,2] = [0, 4, 8, 12]
          input %g: f32[1,1,2,2] = [0, 0, -1, -1]
          %y = GridSample(%x, %g)
          expect %y: f32[1,1,1,2] = [6, 0])"},
      {"width comes first; aligned corners are pixels", R"(
          input %x: f32[1,2,1,3] = [0, 10, 20, 30, 40, 50]
          input %g: f32[1,1,2,2] = [1, 0, -0.5, 0]
          %y = GridSample(%x, %g) {align_corners=1, mode="bilinear"}
          expect %y: f32[1,2,1,2] = [20, 5, 50, 35])"},
      // Place 2.5 of a row of two: 0.5 pixels behind the edge at 1.5.
      {"outside: zeros, the border, or back inside", R"(
          input %x: f32[1,1,1,2] = [3, 5]
          input %g: f32[1,1,1,2] = [2, 0]
          %z = GridSample(%x, %g) {mode="nearest"}
          %b = GridSample(%x, %g) {padding_mode="border"}
          %r = GridSample(%x, %g) {padding_mode="reflection"}
          expect %z: f32[1,1,1,1] = [0]
          expect %b: f32[1,1,1,1] = [5]
          expect %r: f32[1,1,1,1] = [4])"},
      // Half way between the middle two of four: weights -3/32, 19/32, 19/32, -3/32.
      {"cubic looks at four pixels", R"(
          input %x: f32[1,1,4] = [0, 32, 64, 128]
          input %g: f32[1,1,1] = [0]
          %y = GridSample(%x, %g) {mode="cubic"}
          expect %y: f32[1,1,1] = [45])"},
      {"volumes of bytes", R"(
          input %x: u8[1,1,2,1,1] = [10, 20]
          input %g: f32[1,1,1,1,3] = [0, 0, 0]
          %y = GridSample(%x, %g)
          expect %y: u8[1,1,1,1,1] = [15])"},
      {"coordinates that are no numbers read nothing", R"(
          input %x: f32[1,1,1,1] = [7]
          input %g: f32[1,1,2,2] = [nan, 0, inf, 0]
          %y = GridSample(%x, %g)
          expect %y: f32[1,1,1,2] = [0, 0])"},
      {"a grid of another rank is refused", R"(
          input %x: f32[1,1,1,1] = [7]
          input %g: f32[1,1,2] = [0, 0]
          %y = GridSample(%x, %g)
          error input 1 ('grid') is [1,1,2], expected rank 4)"},
      {"an unknown mode is refused", R"(
          input %x: f32[1,1,1,1] = [7]
          input %g: f32[1,1,1,2] = [0, 0]
          %y = GridSample(%x, %g) {mode="area"}
          error attribute 'mode' is 'area')"},
  };
  return kCases;
}

}  // namespace rk::ops
