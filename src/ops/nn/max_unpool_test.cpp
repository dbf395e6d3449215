// SPDX-License-Identifier: Apache-2.0
// Cases of MaxUnpool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> max_unpool_cases() {
  static constexpr OpCase kCases[] = {
      {"values return to their places", R"(
          input %x: f32[1,1,1,2] = [5, 6]
          input %i: i64[1,1,1,2] = [1, 6]
          %y = MaxUnpool(%x, %i) {kernel_shape=[2,2], strides=[2,2]}
          expect %y: f32[1,1,2,4] = [0, 5, 0, 0, 0, 0, 6, 0])"},
      {"a larger output_shape adds at the end", R"(
          input %x: i8[1,1,2] = [5, 6]
          input %i: i64[1,1,2] = [1, 2]
          const %s: i64[3] = [1, 1, 6]
          %y = MaxUnpool(%x, %i, %s) {kernel_shape=[2], strides=[2]}
          expect %y: i8[1,1,6] = [0, 5, 6, 0, 0, 0])"},
      {"an index outside is an error", R"(
          input %x: f32[1,1,1] = [5]
          input %i: i64[1,1,1] = [2]
          %y = MaxUnpool(%x, %i) {kernel_shape=[2]}
          error input 1 ('indices') holds 2, expected 0 to 1)"},
      {"a smaller output_shape is refused", R"(
          input %x: f32[1,1,1] = [5]
          input %i: i64[1,1,1] = [0]
          const %s: i64[3] = [1, 1, 1]
          %y = MaxUnpool(%x, %i, %s) {kernel_shape=[2]}
          error input 2 ('output_shape') is [1,1,1], expected at least [1,1,2])"},
      {"a kernel of another rank is refused", R"(
          input %x: f32[1,1,1] = [5]
          input %i: i64[1,1,1] = [0]
          %y = MaxUnpool(%x, %i) {kernel_shape=[2,2]}
          error one extent per spatial axis)"},
      {"indices of i32 are refused", R"(
          input %x: f32[1,1,1] = [5]
          input %i: i32[1,1,1] = [0]
          %y = MaxUnpool(%x, %i) {kernel_shape=[2]}
          error input 1 ('indices') is i32[1,1,1], expected dtype i64)"},
  };
  return kCases;
}

}  // namespace rk::ops
