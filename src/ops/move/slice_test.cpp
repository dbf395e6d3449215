// SPDX-License-Identifier: Apache-2.0
// Cases of Slice.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> slice_cases() {
  static constexpr OpCase kCases[] = {
      {"two axes, ends far outside", R"(
          input %x: f32[2,4] = [1, 2, 3, 4, 5, 6, 7, 8]
          const %s: i64[2] = [1, -3]
          const %e: i64[2] = [9223372036854775807, 1000]
          const %a: i64[2] = [0, -1]
          %y = Slice(%x, %s, %e, %a)
          expect %y: f32[1,3] = [6, 7, 8])"},
      {"steps of two, and backwards to the front", R"(
          input %x: i8[5] = [1, 2, 3, 4, 5]
          const %s: i64[1] = [-1]
          const %e: i64[1] = [-9223372036854775808]
          const %a: i64[1] = [0]
          const %t: i64[1] = [-2]
          %y = Slice(%x, %s, %e, %a, %t)
          expect %y: i8[3] = [5, 3, 1])"},
      {"the largest steps", R"(
          input %x: i64[3] = [1, 2, 3]
          const %s: i64[1] = [1]
          const %e: i64[1] = [3]
          const %b: i64[1] = [-100]
          const %a: i64[1] = [0]
          const %t: i64[1] = [9223372036854775807]
          const %u: i64[1] = [-9223372036854775808]
          %y = Slice(%x, %s, %e, %a, %t)
          %z = Slice(%x, %s, %b, %a, %u)
          expect %y: i64[1] = [2]
          expect %z: i64[1] = [2])"},
      {"nothing between start and end", R"(
          input %x: f16[3] = [1, 2, 3]
          const %s: i64[1] = [2]
          const %e: i64[1] = [1]
          %y = Slice(%x, %s, %e)
          expect %y: f16[0] = [])"},
      {"a step of zero is refused", R"(
          input %x: f32[1] = [1]
          const %s: i64[1] = [0]
          %y = Slice(%x, %s, %s, %s, %s)
          error input 4 ('steps') holds a 0)"},
      {"lists of different lengths are refused", R"(
          input %x: f32[1] = [1]
          const %s: i64[1] = [0]
          const %e: i64[2] = [1, 1]
          %y = Slice(%x, %s, %e)
          error have 1, 2, 1 and 1 values; expected the same number)"},
      {"an axis twice is refused", R"(
          input %x: f32[1] = [1]
          const %s: i64[2] = [0, 0]
          const %a: i64[2] = [0, -1]
          %y = Slice(%x, %s, %s, %a)
          error is given twice)"},
      {"starts known at run time only are refused", R"(
          input %x: f32[1] = [1]
          input %s: i64[1] = [0]
          %y = Slice(%x, %s, %s)
          error input 1 ('starts') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
