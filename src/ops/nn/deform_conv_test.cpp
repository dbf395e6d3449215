// SPDX-License-Identifier: Apache-2.0
// Cases of DeformConv.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> deform_conv_cases() {
  static constexpr OpCase kCases[] = {
      {"offsets are vertical first and read between pixels", R"(
          input %x: f32[1,1,2,2] = [0, 10, 20, 30]
          input %w: f32[1,1,1,1] = [2]
          input %o: f32[1,2,2,2] = [0.5, 0, 0, 0, 0, 0, 0.25, 1]
          %y = DeformConv(%x, %w, %o)
          expect %y: f32[1,1,2,2] = [20, 20, 45, 0])"},
      {"a bias, a mask and two offset groups", R"(
          input %x: f32[1,2,1,2] = [1, 2, 3, 4]
          input %w: f32[1,2,1,1] = [1, 10]
          input %o: f32[1,4,1,2] = [0, 0, 1, 0, 0, 0, 0, -1]
          input %b: f32[1] = [100]
          input %m: f32[1,2,1,2] = [1, 0.5, 1, 1]
          %y = DeformConv(%x, %w, %o, %b, %m) {offset_group=2}
          expect %y: f32[1,1,1,2] = [132, 131])"},
      // Two taps along the width, the second beyond the padding on the last place.
      {"a kernel with padding", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          input %w: f32[1,1,1,2] = [10, 1]
          input %o: f32[1,4,1,2] = [0, 0, 0, 0, 0, 0, 0, 0]
          %y = DeformConv(%x, %w, %o) {pads=[0, 0, 0, 1]}
          expect %y: f32[1,1,1,2] = [12, 20])"},
      {"offsets that are no numbers read nothing", R"(
          input %x: f32[1,1,1,1] = [1]
          input %w: f32[1,1,1,1] = [1]
          input %o: f32[1,2,1,1] = [nan, inf]
          %y = DeformConv(%x, %w, %o)
          expect %y: f32[1,1,1,1] = [0])"},
      {"offsets of another shape are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = DeformConv(%x, %x, %x)
          error input 2 ('offset') is f32[1,1,1,1], expected shape [1,2,1,1])"},
      {"offset groups that do not divide are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = DeformConv(%x, %x, %x) {offset_group=2}
          error attribute 'offset_group' is 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
