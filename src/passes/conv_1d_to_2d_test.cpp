// SPDX-License-Identifier: Apache-2.0
// Cases of conv_1d_to_2d.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> conv_1d_to_2d_cases() {
  static constexpr PassCase kCases[] = {
      {"a strided convolution with bias", R"(
          input %x: f32[1,2,7]
          const %w: f32[3,2,3] = [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
          const %b: f32[3] = [1, 2, 3]
          %y = Conv(%x, %w, %b) {pads=[1,0], strides=[2], dilations=[1], kernel_shape=[3]}
          output %y)",
       1, "Reshape Conv Reshape"},
      {"a depthwise convolution with SAME padding", R"(
          input %x: f32[1,2,7]
          const %w: f32[2,1,4] = [1, 2, 3, 4, -1, 2, -3, 4]
          %y = Conv(%x, %w) {group=2, auto_pad="SAME_UPPER"}
          output %y)",
       1, "Reshape Conv Reshape"},
      {"weights computed at run time", R"(
          input %x: f32[1,2,7]
          input %w: f32[3,2,3]
          %y = Conv(%x, %w)
          output %y)",
       1, "Reshape Reshape Conv Reshape"},
      {"a transposed convolution with output padding", R"(
          input %x: f32[1,2,4]
          const %w: f32[2,1,3] = [1, 2, 3, -1, 0.5, 2]
          %y = ConvTranspose(%x, %w) {strides=[2], pads=[1,1], output_padding=[1]}
          output %y)",
       1, "Reshape ConvTranspose Reshape"},
      {"pools", R"(
          input %x: f32[1,2,8]
          %a = MaxPool(%x) {kernel_shape=[3], strides=[2], pads=[1,1]}
          %b = AveragePool(%a) {kernel_shape=[2]}
          %y = GlobalAveragePool(%b)
          output %y)",
       3, "Reshape MaxPool Reshape Reshape AveragePool Reshape Reshape GlobalAveragePool Reshape"},
      {"pictures stay", R"(
          input %x: f32[1,2,4,4]
          const %w: f32[1,2,1,1] = [1, 2]
          %y = Conv(%x, %w)
          output %y)",
       0, "Conv"},
  };
  return kCases;
}

}  // namespace rk::passes
