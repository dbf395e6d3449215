// SPDX-License-Identifier: Apache-2.0
// Cases of AveragePool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> average_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"a 2x1 window", R"(
          input %x: f32[1,1,3,2] = [1, 2, 3, 4, 5, 6]
          %y = AveragePool(%x) {kernel_shape=[2,1]}
          expect %y: f32[1,1,2,2] = [2, 3, 4, 5])"},
      {"padding does not count unless asked for", R"(
          input %x: f32[1,1,2] = [2, 4]
          %y = AveragePool(%x) {kernel_shape=[2], pads=[1,1]}
          %z = AveragePool(%x) {kernel_shape=[2], pads=[1,1], count_include_pad=1}
          expect %y: f32[1,1,3] = [2, 3, 4]
          expect %z: f32[1,1,3] = [1, 3, 2])"},
      {"what ceil_mode reaches beyond the padding never counts", R"(
          input %x: f32[1,1,5] = [1, 2, 3, 4, 6]
          %y = AveragePool(%x) {kernel_shape=[2], strides=[2], ceil_mode=1, count_include_pad=1}
          expect %y: f32[1,1,3] = [1.5, 3.5, 6])"},
      {"dilated taps", R"(
          input %x: f32[1,1,5] = [1, 9, 2, 8, 3]
          %y = AveragePool(%x) {kernel_shape=[2], dilations=[2]}
          expect %y: f32[1,1,3] = [1.5, 8.5, 2.5])"},
      {"a window far larger than the picture takes no longer than the picture", R"(
          input %x: f32[1,1,3] = [1, 2, 6]
          %y = AveragePool(%x) {kernel_shape=[1000000001], pads=[1000000000,1000000000], strides=[1000000000]}
          %z = AveragePool(%x) {kernel_shape=[500000001], pads=[1000000000,1000000000], strides=[1000000000],
                                dilations=[2]}
          expect %y: f32[1,1,2] = [1, 3]
          expect %z: f32[1,1,2] = [1, 3.5])"},
      {"SAME_UPPER keeps the extent", R"(
          input %x: f32[1,1,3] = [1, 2, 3]
          %y = AveragePool(%x) {kernel_shape=[2], auto_pad="SAME_UPPER"}
          expect %y: f32[1,1,3] = [1.5, 2.5, 3])"},
      {"integers are refused", R"(
          input %x: i8[1,1,2] = [1, 2]
          %y = AveragePool(%x) {kernel_shape=[2]}
          error expected a float dtype)"},
      {"another count_include_pad is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = AveragePool(%x) {kernel_shape=[2], count_include_pad=3}
          error attribute 'count_include_pad' is 3)"},
  };
  return kCases;
}

}  // namespace rk::ops
