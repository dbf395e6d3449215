// SPDX-License-Identifier: Apache-2.0
// Cases of Col2Im.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> col2_im_cases() {
  static constexpr OpCase kCases[] = {
      // Blocks of two at 0 and 1: taps (1, 3) and (2, 4) overlap in the middle.
      {"overlaps add up", R"(
          input %x: f32[1,2,2] = [1, 2, 3, 4]
          const %i: i64[1] = [3]
          const %b: i64[1] = [2]
          %y = Col2Im(%x, %i, %b)
          expect %y: f32[1,1,3] = [1, 5, 4])"},
      {"rows and columns, two channels, no overlap", R"(
          input %x: i32[1,4,2] = [1, 2, 3, 4, 5, 6, 7, 8]
          const %i: i64[2] = [1, 4]
          const %b: i64[2] = [1, 2]
          %y = Col2Im(%x, %i, %b) {strides=[1, 2]}
          expect %y: i32[1,2,1,4] = [1, 3, 2, 4, 5, 7, 6, 8])"},
      // Padded extent 4, taps two apart: blocks start at -1 and 0.
      {"padding drops, dilation spreads", R"(
          input %x: f16[1,2,2] = [1, 2, 3, 4]
          const %i: i64[1] = [2]
          const %b: i64[1] = [2]
          %y = Col2Im(%x, %i, %b) {pads=[1, 1], dilations=[2]}
          expect %y: f16[1,1,2] = [2, 3])"},
      {"a wrong number of blocks is refused", R"(
          input %x: f32[1,2,3] = [1, 2, 3, 4, 5, 6]
          const %i: i64[1] = [3]
          const %b: i64[1] = [2]
          %y = Col2Im(%x, %i, %b)
          error input 0 ('x') is [1,2,3], expected a multiple of 2 as axis 1 and 2 blocks)"},
      {"a block that does not fit is refused", R"(
          input %x: f32[1,4,1] = [1, 2, 3, 4]
          const %i: i64[1] = [3]
          const %b: i64[1] = [4]
          %y = Col2Im(%x, %i, %b)
          error the block does not fit the padded image extent 3)"},
      {"strides for another rank are refused", R"(
          input %x: f32[1,1,1] = [1]
          const %i: i64[1] = [1]
          %y = Col2Im(%x, %i, %i) {strides=[1, 1]}
          error attribute 'strides' is [1,1], expected 1 values)"},
  };
  return kCases;
}

}  // namespace rk::ops
