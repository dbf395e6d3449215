// SPDX-License-Identifier: Apache-2.0
// Cases of TopK.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> top_k_cases() {
  static constexpr OpCase kCases[] = {
      {"k of run time leaves room for the axis", R"(
          input %x: f32[1,3] = [1, 3, 2]
          input %k: i64[1] = [2]
          %v, %i, %n = TopK(%x, %k)
          expect %v: f32[1,3] = [3, 2, 0]
          expect %i: i64[1,3] = [1, 2, -1]
          expect %n: i64[1] = [2])"},
      {"the largest, ties by index", R"(
          input %x: f32[2,4] = [1, 3, 3, 2, 4, 0, -1, 4]
          const %k: i64[1] = [3]
          %v, %i = TopK(%x, %k)
          expect %v: f32[2,3] = [3, 3, 2, 4, 4, 0]
          expect %i: i64[2,3] = [1, 2, 3, 0, 3, 1])"},
      {"the smallest along the first axis, int8", R"(
          input %x: i8[3,2] = [5, -5, 1, 9, 3, -7]
          const %k: i64[1] = [2]
          %v, %i = TopK(%x, %k) {axis=0, largest=0}
          expect %v: i8[2,2] = [1, -7, 3, -5]
          expect %i: i64[2,2] = [1, 2, 2, 0])"},
      {"none", R"(
          input %x: f32[2] = [1, 2]
          const %k: i64[1] = [0]
          %v, %i = TopK(%x, %k)
          expect %v: f32[0] = []
          expect %i: i64[0] = [])"},
      {"a NaN sorts as the largest", R"(
          input %x: f32[3] = [1, nan, 2]
          const %k: i64[1] = [2]
          %v, %i = TopK(%x, %k)
          expect %i: i64[2] = [1, 2])"},
      {"more than there are is refused", R"(
          input %x: f32[2] = [1, 2]
          const %k: i64[1] = [3]
          %v, %i = TopK(%x, %k)
          error input 1 ('k') is 3, expected 0 to 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
