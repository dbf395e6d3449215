// SPDX-License-Identifier: Apache-2.0
// Cases of NonZero.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> non_zero_cases() {
  static constexpr OpCase kCases[] = {
      {"columns in row-major order, unused ones hold -1", R"(
          input %x: f32[2,2] = [1, 0, -2, nan]
          %y, %n = NonZero(%x)
          expect %y: i64[2,4] = [0, 1, 1, -1, 0, 0, 1, -1]
          expect %n: i64[1] = [3])"},
      {"what is constant has the exact size", R"(
          const %x: bool[3] = [1, 0, 1]
          %y, %n = NonZero(%x)
          expect %y: i64[1,2] = [0, 2]
          expect %n: i64[1] = [2])"},
      {"a scalar is one element on one axis", R"(
          input %x: i64[] = [5]
          %y = NonZero(%x)
          expect %y: i64[1,1] = [0])"},
      {"nothing found", R"(
          const %x: i32[2] = [0, 0]
          %y, %n = NonZero(%x)
          expect %y: i64[1,0] = []
          expect %n: i64[1] = [0])"},
  };
  return kCases;
}

}  // namespace rk::ops
