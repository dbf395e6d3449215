// SPDX-License-Identifier: Apache-2.0
// Cases of Where.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> where_cases() {
  static constexpr OpCase kCases[] = {
      {"all three broadcast", R"(
          input %c: bool[2,1] = [1, 0]
          input %a: f32[1,2] = [1, 2]
          input %b: f32[] = [-1]
          %y = Where(%c, %a, %b)
          expect %y: f32[2,2] = [1, 2, -1, -1])"},
      {"any dtype", R"(
          input %c: bool[3] = [1, 0, 1]
          input %a: i64[3] = [1, 2, 3]
          input %b: i64[3] = [10, 20, 30]
          input %d: i8[] = [-7]
          input %e: i8[] = [5]
          %y = Where(%c, %a, %b)
          %z = Where(%c, %d, %e)
          expect %y: i64[3] = [1, 20, 3]
          expect %z: i8[3] = [-7, 5, -7])"},
      {"a condition that is not bool is refused", R"(
          input %c: f32[1] = [1]
          %y = Where(%c, %c, %c)
          error input 0 ('condition') is f32[1], expected dtype bool)"},
  };
  return kCases;
}

}  // namespace rk::ops
