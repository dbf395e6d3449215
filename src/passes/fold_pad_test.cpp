// SPDX-License-Identifier: Apache-2.0
// Cases of fold_pad.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,2,5,4]
          const %w: f32[3,2,3,2] = [1, -2, 3, 4, -5, 6, 7, 8, 9, -1, 2, 3, 4, 5, -6, 7, 8, 9,
              -1, 2, 3, 4, 5, 6, 7, -8, 9, 1, 2, 3, -4, 5, 6, 7, 8, 9]
          const %p: i64[8] = [0,0,1,0, 0,0,0,1]
          const %zero: f32[] = [0]
          const %one: f32[] = [1]
          const %low: f32[] = [-3.4028234663852886e38])";

}  // namespace

std::span<const PassCase> fold_pad_cases() {
  static constexpr PassCase kCases[] = {
      {"asymmetric zeros in front of a convolution of stride 2", R"(
          %a = Pad(%x, %p, %zero)
          %y = Conv(%a, %w) {strides=[2,1], pads=[0,1,1,0]}
          output %y)",
       1, "Conv", kGiven},
      {"without a value it is zero", R"(
          %a = Pad(%x, %p)
          %y = Conv(%a, %w) {dilations=[1,2]}
          output %y)",
       1, "Conv", kGiven},
      {"two readers, one of which is no window", R"(
          %a = Pad(%x, %p)
          %y = Conv(%a, %w)
          %z = Relu(%a)
          output %y
          output %z)",
       1, "Pad Conv Relu", kGiven},
      {"axes of their own", R"(
          const %q: i64[2] = [2,1]
          const %axes: i64[1] = [-1]
          %a = Pad(%x, %q, %zero, %axes)
          %y = Conv(%a, %w)
          output %y)",
       1, "Conv", kGiven},
      {"SAME padding counts the extents it had", R"(
          %a = Pad(%x, %p)
          %y = Conv(%a, %w) {auto_pad="SAME_UPPER", strides=[2,2]}
          output %y)",
       1, "Conv", kGiven},
      {"one axis", R"(
          input %x1: f32[1,1,6]
          const %w1: f32[1,1,3] = [1, -2, 4]
          const %p1: i64[6] = [0,0,2,0,0,1]
          %a = Pad(%x1, %p1)
          %y = Conv(%a, %w1)
          output %y)",
       1, "Conv"},
      {"another number than zero stays", R"(
          %a = Pad(%x, %p, %one)
          %y = Conv(%a, %w)
          output %y)",
       0, "Pad Conv", kGiven},
      {"reflected borders stay", R"(
          %a = Pad(%x, %p, %zero) {mode="reflect"}
          %y = Conv(%a, %w)
          output %y)",
       0, "Pad Conv", kGiven},
      {"further channels stay", R"(
          const %q: i64[8] = [0,0,1,1, 0,1,0,0]
          const %w3: f32[1,3,1,1] = [1, 2, 3]
          %a = Pad(%x, %q)
          %y = Conv(%a, %w3)
          output %y)",
       0, "Pad Conv", kGiven},
      {"a cut stays", R"(
          const %q: i64[8] = [0,0,1,-1, 0,0,0,0]
          %a = Pad(%x, %q)
          %y = Conv(%a, %w)
          output %y)",
       0, "Pad Conv", kGiven},
      {"more than the NPU pads stays", R"(
          const %q: i64[8] = [0,0,20,0, 0,0,0,0]
          %a = Pad(%x, %q)
          %y = Conv(%a, %w)
          output %y)",
       0, "Pad Conv", kGiven},
      {"zeros in front of an average are counted", R"(
          %a = Pad(%x, %p)
          %y = AveragePool(%a) {kernel_shape=[3,3]}
          output %y)",
       1, "AveragePool", kGiven},
      {"an average that does not count its own padding stays", R"(
          %a = Pad(%x, %p)
          %y = AveragePool(%a) {kernel_shape=[3,3], pads=[1,1,1,1]}
          output %y)",
       0, "Pad AveragePool", kGiven},
      {"an average that counts its own padding counts more", R"(
          %a = Pad(%x, %p)
          %y = AveragePool(%a) {kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1}
          output %y)",
       1, "AveragePool", kGiven},
      {"the lowest number in front of a maximum", R"(
          %a = Pad(%x, %p, %low)
          %y = MaxPool(%a) {kernel_shape=[2,2], strides=[2,2]}
          output %y)",
       1, "MaxPool", kGiven},
      {"zeros in front of a maximum of what has nothing below zero", R"(
          %r = Relu(%x)
          %a = Pad(%r, %p)
          %y = MaxPool(%a) {kernel_shape=[2,2], strides=[2,2]}
          output %y)",
       1, "Relu MaxPool", kGiven},
      {"zeros in front of a maximum of any numbers stay", R"(
          %a = Pad(%x, %p)
          %y = MaxPool(%a) {kernel_shape=[2,2], strides=[2,2]}
          output %y)",
       0, "Pad MaxPool", kGiven},
      {"windows that would see nothing stay", R"(
          const %q: i64[8] = [0,0,2,0, 0,0,0,0]
          %a = Pad(%x, %q, %low)
          %y = MaxPool(%a) {kernel_shape=[2,2], strides=[2,2]}
          output %y)",
       0, "Pad MaxPool", kGiven},
      {"a padded picture that is an output stays, and is not read", R"(
          %a = Pad(%x, %p)
          %y = Conv(%a, %w)
          output %a
          output %y)",
       1, "Pad Conv", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
