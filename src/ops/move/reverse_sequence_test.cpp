// SPDX-License-Identifier: Apache-2.0
// Cases of ReverseSequence.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> reverse_sequence_cases() {
  static constexpr OpCase kCases[] = {
      {"time first", R"(
          input %x: i8[3,2] = [1, 2, 3, 4, 5, 6]
          input %l: i64[2] = [2, 3]
          %y = ReverseSequence(%x, %l)
          expect %y: i8[3,2] = [3, 6, 1, 4, 5, 2])"},
      {"batch first, rows", R"(
          input %x: f32[1,2,2] = [1, 2, 3, 4]
          input %l: i64[1] = [2]
          %y = ReverseSequence(%x, %l) {batch_axis=0, time_axis=1}
          expect %y: f32[1,2,2] = [3, 4, 1, 2])"},
      {"a length beyond the steps is an error", R"(
          input %x: f32[1,1] = [1]
          input %l: i64[1] = [2]
          %y = ReverseSequence(%x, %l)
          error input 1 ('sequence_lens') holds 2, expected 0 to 1)"},
      {"equal axes are refused", R"(
          input %x: f32[1,1] = [1]
          input %l: i64[1] = [1]
          %y = ReverseSequence(%x, %l) {batch_axis=0}
          error attributes 'batch_axis' and 'time_axis' are both 0)"},
      {"another number of lengths is refused", R"(
          input %x: f32[1,2] = [1, 2]
          input %l: i64[1] = [1]
          %y = ReverseSequence(%x, %l)
          error input 1 ('sequence_lens') is i64[1], expected shape [2])"},
  };
  return kCases;
}

}  // namespace rk::ops
