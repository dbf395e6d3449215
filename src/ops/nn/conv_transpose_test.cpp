// SPDX-License-Identifier: Apache-2.0
// Cases of ConvTranspose.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> conv_transpose_cases() {
  static constexpr OpCase kCases[] = {
      {"kernels overlap by one", R"(
          input %x: f32[1,1,1,3] = [1, 2, 3]
          const %w: f32[1,1,1,2] = [1, 10]
          const %b: f32[1] = [0.5]
          %y = ConvTranspose(%x, %w, %b)
          expect %y: f32[1,1,1,4] = [1.5, 12.5, 23.5, 30.5])"},
      {"stride two leaves no overlap, output_padding adds a column", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          const %w: f32[1,1,1,2] = [1, 10]
          %y = ConvTranspose(%x, %w) {strides=[1,2], output_padding=[0,1]}
          expect %y: f32[1,1,1,5] = [1, 10, 2, 20, 0])"},
      {"pads cut the result, dilation spreads the taps", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          const %w: f32[1,1,1,2] = [1, 10]
          %y = ConvTranspose(%x, %w) {dilations=[1,2], pads=[0,1,0,0]}
          expect %y: f32[1,1,1,3] = [2, 10, 20])"},
      {"weights are input channel first", R"(
          input %x: f32[1,2,1,1] = [1, 2]
          const %w: f32[2,3,1,1] = [1, 10, 100, 2, 20, 200]
          %y = ConvTranspose(%x, %w)
          expect %y: f32[1,3,1,1] = [5, 50, 500])"},
      {"groups keep to themselves", R"(
          input %x: f32[1,2,1,1] = [1, 2]
          const %w: f32[2,2,1,1] = [1, 10, 100, 1000]
          %y = ConvTranspose(%x, %w) {group=2}
          expect %y: f32[1,4,1,1] = [1, 10, 200, 2000])"},
      {"output_shape larger than the result leaves zeros", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          const %w: f32[1,1,1,1] = [3]
          %y = ConvTranspose(%x, %w) {strides=[1,2], output_shape=[1,5]}
          expect %y: f32[1,1,1,5] = [3, 0, 6, 0, 0])"},
      {"SAME_UPPER gives input times stride", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          const %w: f32[1,1,1,3] = [1, 10, 100]
          %y = ConvTranspose(%x, %w) {auto_pad="SAME_UPPER", strides=[1,2]}
          expect %y: f32[1,1,1,4] = [1, 10, 102, 20])"},
      {"one and three axes", R"(
          input %x: f32[1,1,2] = [1, 2]
          const %w: f32[1,1,2] = [1, 10]
          input %v: f32[1,1,1,1,2] = [1, 2]
          const %u: f32[1,1,2,1,1] = [1, 10]
          %y = ConvTranspose(%x, %w)
          %z = ConvTranspose(%v, %u)
          expect %y: f32[1,1,3] = [1, 12, 20]
          expect %z: f32[1,1,2,1,2] = [1, 2, 10, 20])"},
      {"pads that leave nothing are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = ConvTranspose(%x, %x) {pads=[0,1,0,1]}
          error spatial axis 1: the output extent would be -1)"},
      {"output_padding as large as the stride is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = ConvTranspose(%x, %x) {output_padding=[0,1]}
          error attribute 'output_padding' has value 1, expected 0 to 0)"},
      {"an output_shape of one value is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = ConvTranspose(%x, %x) {output_shape=[1]}
          error attribute 'output_shape' has 1 values, expected 2)"},
      {"weights for other channels are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          const %w: f32[2,1,1,1] = [1, 2]
          %y = ConvTranspose(%x, %w)
          error weights [2,1,1,1] take 2 channels, the input [1,1,1,1] has 1)"},
      {"a group that does not divide is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = ConvTranspose(%x, %x) {group=2}
          error attribute 'group' is 2, expected a divisor of the 1 input channels)"},
  };
  return kCases;
}

}  // namespace rk::ops
