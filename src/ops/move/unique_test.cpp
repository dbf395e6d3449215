// SPDX-License-Identifier: Apache-2.0
// Cases of Unique.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> unique_cases() {
  static constexpr OpCase kCases[] = {
      {"ascending, with room for all to differ", R"(
          input %x: f32[6] = [2, 1, 1, 3, 4, 3]
          %y, %i, %v, %c, %n = Unique(%x)
          expect %y: f32[6] = [1, 2, 3, 4, 0, 0]
          expect %i: i64[6] = [1, 0, 3, 4, -1, -1]
          expect %v: i64[6] = [1, 0, 0, 2, 3, 2]
          expect %c: i64[6] = [2, 1, 2, 1, -1, -1]
          expect %n: i64[1] = [4])"},
      {"in order of first occurrence, exact where constant", R"(
          const %x: i64[6] = [2, 1, 1, 3, 4, 3]
          %y, %i, %v, %c = Unique(%x) {sorted=0}
          expect %y: i64[4] = [2, 1, 3, 4]
          expect %i: i64[4] = [0, 1, 3, 4]
          expect %v: i64[6] = [0, 1, 1, 2, 3, 2]
          expect %c: i64[4] = [1, 2, 2, 1])"},
      {"rows", R"(
          const %x: i32[3,2] = [1, 0, 1, 0, 0, 5]
          %y, %i, %v = Unique(%x) {axis=0}
          expect %y: i32[2,2] = [0, 5, 1, 0]
          expect %i: i64[2] = [2, 0]
          expect %v: i64[3] = [1, 1, 0])"},
      {"an axis beyond the rank is refused", R"(
          input %x: f32[2] = [1, 2]
          %y = Unique(%x) {axis=1}
          error axis 1 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
