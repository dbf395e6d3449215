// SPDX-License-Identifier: Apache-2.0
// Cases of exTableSoftmax; numbers by hand.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_table_softmax_cases() {
  static constexpr OpCase kCases[] = {
      {"the row of the largest score, divided by its sum", R"(
          input %x: f32[2,3] = [2, 1, 1, 0, 0, 1]
          input %t: f32[3,3] = [1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1]
          %y = exTableSoftmax(%x, %t) {zero_point=-128, factor=100}
          expect %y: f32[2,3] = [50, 25, 25, 25, 25, 50])"},
      // 127.5, 63.75, 31.875
      {"results are int8 codes", R"(
          input %x: f32[4] = [2, 1, 0, 0]
          input %t: f32[3,3] = [1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1]
          %y = exTableSoftmax(%x, %t) {zero_point=-128, factor=255}
          expect %y: f32[4] = [127, 64, 32, 32])"},
      // 127.5 is 128, less 128 it is 0; 255 is 127.
      {"the result has a zero point", R"(
          input %x: f32[2,2] = [2, 2, 2, 0]
          input %t: f32[3,3] = [1, 0, 0, 0, 1, 0, 0, 0, 1]
          %y = exTableSoftmax(%x, %t) {zero_point=-128, factor=255, output_zero_point=-128, unit=0.5}
          expect %y: f32[2,2] = [64, 64, 127.5, 0])"},
      // 1/3 as a half is 0.33325195, times 30004.5 would be 10001.5.
      {"quotients are halves", R"(
          input %x: f32[3] = [0, 0, 0]
          input %t: f32[1,1] = [1]
          %y = exTableSoftmax(%x, %t) {zero_point=-128, factor=259.5}
          expect %y: f32[3] = [86, 86, 86])"},
      {"scores outside the table take its ends", R"(
          input %x: f32[3] = [-9, 1, 9]
          input %t: f32[2,2] = [1, 1, 0.5, 1]
          %y = exTableSoftmax(%x, %t) {zero_point=-128, factor=10}
          expect %y: f32[3] = [2, 4, 4])"},
      // The columns are those rows of the first case.
      {"scores have a unit, and any axis is summed over", R"(
          input %x: f32[3,2] = [0.5, 0, 0.25, 0, 0.25, 0.25]
          input %t: f32[3,3] = [1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1]
          %y = exTableSoftmax(%x, %t) {zero_point=-128, factor=100, axis=0, input_unit=0.25}
          expect %y: f32[3,2] = [50, 25, 25, 25, 25, 50])"},
      {"an axis beyond the tensor's is refused", R"(
          input %x: f32[1] = [1]
          input %t: f32[1,1] = [1]
          %y = exTableSoftmax(%x, %t) {axis=1}
          error axis is 1, expected -1 to 0)"},
      {"a unit of zero is refused", R"(
          input %x: f32[1] = [1]
          input %t: f32[1,1] = [1]
          %y = exTableSoftmax(%x, %t) {input_unit=0}
          error input_unit is 0, expected a number above 0)"},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          input %t: f32[1,1] = [1]
          %y = exTableSoftmax(%x, %t)
          expect %y: f32[0,3] = [])"},
      {"a table that is not square is refused", R"(
          input %x: f32[1] = [1]
          input %t: f32[1,2] = [1, 1]
          %y = exTableSoftmax(%x, %t)
          error input 1 ('table') is [1,2], expected as many rows as columns, 1 to 256)"},
  };
  return kCases;
}

}  // namespace rk::ops
