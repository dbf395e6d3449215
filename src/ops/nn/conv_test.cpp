// SPDX-License-Identifier: Apache-2.0
// Cases of Conv.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> conv_cases() {
  static constexpr OpCase kCases[] = {
      {"a 2x1 kernel on a 3x2 picture, stride apart", R"(
          input %x: f32[1,1,3,2] = [1, 2, 3, 4, 5, 6]
          const %w: f32[1,1,2,1] = [10, 1]
          const %b: f32[1] = [0.5]
          %y = Conv(%x, %w, %b)
          expect %y: f32[1,1,2,2] = [13.5, 24.5, 35.5, 46.5])"},
      {"asymmetric pads, strides and dilations", R"(
          input %x: f32[1,1,2,5] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
          const %w: f32[1,1,1,2] = [1, 10]
          %y = Conv(%x, %w) {pads=[1,0,0,1], strides=[2,2], dilations=[1,2]}
          expect %y: f32[1,1,2,2] = [0, 0, 86, 108])"},
      {"the dilated taps lie two apart", R"(
          input %x: f32[1,1,2,5] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
          const %w: f32[1,1,1,2] = [1, 10]
          %y = Conv(%x, %w) {pads=[0,0,0,1], strides=[1,2], dilations=[1,2]}
          expect %y: f32[1,1,2,2] = [31, 53, 86, 108])"},
      {"groups of two read only their own channels", R"(
          input %x: f32[1,4,1,1] = [1, 2, 3, 4]
          const %w: f32[2,2,1,1] = [10, 100, 1000, 10000]
          %y = Conv(%x, %w) {group=2}
          expect %y: f32[1,2,1,1] = [210, 43000])"},
      {"depthwise with two outputs per channel", R"(
          input %x: f32[1,3,1,2] = [1, 2, 3, 4, 5, 6]
          const %w: f32[6,1,1,1] = [1, 10, 2, 20, 3, 30]
          %y = Conv(%x, %w) {group=3}
          expect %y: f32[1,6,1,2] = [1, 2, 10, 20, 6, 8, 60, 80, 15, 18, 150, 180])"},
      {"SAME_UPPER puts the odd row at the end", R"(
          input %x: f32[1,1,1,4] = [1, 2, 3, 4]
          const %w: f32[1,1,1,2] = [1, 10]
          %y = Conv(%x, %w) {auto_pad="SAME_UPPER"}
          expect %y: f32[1,1,1,4] = [21, 32, 43, 4])"},
      {"SAME_LOWER puts it at the beginning", R"(
          input %x: f32[1,1,1,4] = [1, 2, 3, 4]
          const %w: f32[1,1,1,2] = [1, 10]
          %y = Conv(%x, %w) {auto_pad="SAME_LOWER"}
          expect %y: f32[1,1,1,4] = [10, 21, 32, 43])"},
      {"one spatial axis, batch of two", R"(
          input %x: f32[2,1,3] = [1, 2, 3, 4, 5, 6]
          const %w: f32[1,1,2] = [1, -1]
          %y = Conv(%x, %w)
          expect %y: f32[2,1,2] = [-1, -1, -1, -1])"},
      {"three spatial axes", R"(
          input %x: f32[1,1,2,2,2] = [1, 2, 3, 4, 5, 6, 7, 8]
          const %w: f32[1,1,2,1,2] = [1, 10, 100, 1000]
          %y = Conv(%x, %w) {kernel_shape=[2,1,2]}
          expect %y: f32[1,1,1,2,1] = [6521, 8743])"},
      {"half floats, sums in more precision", R"(
          input %x: f16[1,2,1,1] = [2048, 1]
          const %w: f16[1,2,1,1] = [1, 2]
          %y = Conv(%x, %w)
          expect %y: f16[1,1,1,1] = [2050])"},
      {"a batch of none", R"(
          input %x: f32[0,1,2,2] = []
          const %w: f32[1,1,1,1] = [1]
          %y = Conv(%x, %w)
          expect %y: f32[0,1,2,2] = [])"},
      {"a stride of zero is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {strides=[1,0]}
          error attribute 'strides' has value 0, expected 1 to)"},
      {"a huge dilation is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {dilations=[9223372036854775807,1]}
          error attribute 'dilations' has value 9223372036854775807)"},
      {"a negative pad is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {pads=[0,0,-1,0]}
          error attribute 'pads' has value -1)"},
      {"three pads are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {pads=[0,0,1]}
          error attribute 'pads' has 3 values, expected 4)"},
      {"one stride for two axes is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {strides=[1]}
          error attribute 'strides' has 1 values, expected 2)"},
      {"a group that does not divide is refused", R"(
          input %x: f32[1,3,1,1] = [1, 2, 3]
          const %w: f32[2,1,1,1] = [1, 1]
          %y = Conv(%x, %w) {group=2}
          error attribute 'group' is 2, expected a divisor of the 3 input and 2 output channels)"},
      {"a group of zero is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {group=0}
          error attribute 'group' is 0)"},
      {"weights for other channels are refused", R"(
          input %x: f32[1,3,1,1] = [1, 2, 3]
          const %w: f32[2,2,1,1] = [1, 1, 1, 1]
          %y = Conv(%x, %w)
          error weights [2,2,1,1] take 2 channels per group, the input [1,3,1,1] has 3)"},
      {"a kernel larger than the picture is refused", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          const %w: f32[1,1,1,3] = [1, 1, 1]
          %y = Conv(%x, %w)
          error kernel extent 3 (with dilation) exceeds the padded input extent 2)"},
      {"a kernel_shape that is not the weights is refused", R"(
          input %x: f32[1,1,2,2] = [1, 2, 3, 4]
          const %w: f32[1,1,1,1] = [1]
          %y = Conv(%x, %w) {kernel_shape=[2,2]}
          error attribute 'kernel_shape' is [2,2], the weights have [1,1])"},
      {"a bias of another length is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          const %b: f32[2] = [1, 2]
          %y = Conv(%x, %x, %b)
          error input 2 ('b') is f32[2], expected shape [1])"},
      {"an unknown auto_pad is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = Conv(%x, %x) {auto_pad="SAME"}
          error attribute 'auto_pad' is 'SAME', expected one of)"},
      {"a matrix is refused", R"(
          input %x: f32[1,1] = [1]
          %y = Conv(%x, %x)
          error expected the same rank, 3 to 5)"},
      {"integers are refused", R"(
          input %x: i8[1,1,1,1] = [1]
          %y = Conv(%x, %x)
          error expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
