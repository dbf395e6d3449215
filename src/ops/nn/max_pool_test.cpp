// SPDX-License-Identifier: Apache-2.0
// Cases of MaxPool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> max_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"2x3 windows with their indices", R"(
          input %x: f32[1,1,3,4] = [1, 5, 2, 0, 3, 4, 9, 8, 7, 6, 0, 1]
          %y, %i = MaxPool(%x) {kernel_shape=[2,3]}
          expect %y: f32[1,1,2,2] = [9, 9, 9, 9]
          expect %i: i64[1,1,2,2] = [6, 6, 6, 6])"},
      {"indices count over batch and channel, ties take the first", R"(
          input %x: i8[2,1,1,2] = [1, 1, -5, -4]
          %y, %i = MaxPool(%x) {kernel_shape=[1,2]}
          expect %y: i8[2,1,1,1] = [1, -4]
          expect %i: i64[2,1,1,1] = [0, 3])"},
      {"column-major indices", R"(
          input %x: f32[1,1,2,3] = [0, 0, 0, 0, 0, 7]
          %y, %i = MaxPool(%x) {kernel_shape=[2,3], storage_order=1}
          expect %y: f32[1,1,1,1] = [7]
          expect %i: i64[1,1,1,1] = [5])"},
      {"padding is never chosen", R"(
          input %x: f32[1,1,1,2] = [-3, -2]
          %y = MaxPool(%x) {kernel_shape=[1,2], pads=[0,1,0,1]}
          expect %y: f32[1,1,1,3] = [-3, -2, -2])"},
      {"ceil_mode adds a window that starts inside", R"(
          input %x: f32[1,1,1,5] = [1, 2, 3, 4, 5]
          %y = MaxPool(%x) {kernel_shape=[1,2], strides=[1,2], ceil_mode=1}
          %z = MaxPool(%x) {kernel_shape=[1,2], strides=[1,2]}
          expect %y: f32[1,1,1,3] = [2, 4, 5]
          expect %z: f32[1,1,1,2] = [2, 4])"},
      {"ceil_mode drops one that starts in the padding", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          %y = MaxPool(%x) {kernel_shape=[1,2], strides=[1,3], pads=[0,1,0,1], ceil_mode=1}
          expect %y: f32[1,1,1,1] = [1])"},
      {"dilated taps", R"(
          input %x: f32[1,1,5] = [1, 9, 2, 8, 3]
          %y = MaxPool(%x) {kernel_shape=[2], dilations=[2]}
          expect %y: f32[1,1,3] = [2, 9, 3])"},
      {"three spatial axes", R"(
          input %x: u8[1,1,2,1,2] = [1, 2, 3, 200]
          %y = MaxPool(%x) {kernel_shape=[2,1,1]}
          expect %y: u8[1,1,1,1,2] = [3, 200])"},
      {"half floats", R"(
          input %x: f16[1,1,2] = [-1, -0.5]
          %y = MaxPool(%x) {kernel_shape=[2]}
          expect %y: f16[1,1,1] = [-0.5])"},
      {"no kernel_shape is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = MaxPool(%x)
          error attribute 'kernel_shape' is required and missing)"},
      {"a kernel of another rank is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = MaxPool(%x) {kernel_shape=[1,1]}
          error attribute 'kernel_shape' is [1,1], expected 1 values)"},
      {"a kernel of zero is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = MaxPool(%x) {kernel_shape=[0]}
          error attribute 'kernel_shape' has value 0)"},
      {"pads as large as the kernel are refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = MaxPool(%x) {kernel_shape=[2], pads=[2,0]}
          error attribute 'pads' has 2 and 0 on one axis, expected less than the dilated kernel extent 2)"},
      {"a window larger than the input is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = MaxPool(%x) {kernel_shape=[3]}
          error kernel extent 3 (with dilation) exceeds the padded input extent 2)"},
      {"another storage_order is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = MaxPool(%x) {kernel_shape=[1], storage_order=2}
          error attribute 'storage_order' is 2, expected 0 to 1)"},
      {"a matrix is refused", R"(
          input %x: f32[1,1] = [1]
          %y = MaxPool(%x) {kernel_shape=[1]}
          error expected rank 3 to 5)"},
  };
  return kCases;
}

}  // namespace rk::ops
