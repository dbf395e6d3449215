// SPDX-License-Identifier: Apache-2.0
// Cases of Trilu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> trilu_cases() {
  static constexpr OpCase kCases[] = {
      {"upper and lower of 2x3", R"(
          input %x: f32[2,3] = [1, 2, 3, 4, 5, 6]
          const %k: i64[] = [1]
          const %n: i64[] = [-1]
          %u = Trilu(%x)
          %v = Trilu(%x, %k)
          %l = Trilu(%x, %n) {upper=0}
          %m = Trilu(%x, %k) {upper=0}
          expect %u: f32[2,3] = [1, 2, 3, 0, 5, 6]
          expect %v: f32[2,3] = [0, 2, 3, 0, 0, 6]
          expect %l: f32[2,3] = [0, 0, 0, 4, 0, 0]
          expect %m: f32[2,3] = [1, 2, 0, 4, 5, 6])"},
      {"each matrix of a stack, k far outside", R"(
          input %x: i8[2,1,1] = [1, 2]
          input %k: i64[] = [9223372036854775807]
          input %n: i64[] = [-9223372036854775808]
          %y = Trilu(%x, %k)
          %z = Trilu(%x, %n)
          expect %y: i8[2,1,1] = [0, 0]
          expect %z: i8[2,1,1] = [1, 2])"},
      {"a vector is refused", R"(
          input %x: f32[2] = [1, 2]
          %y = Trilu(%x)
          error expected rank 2 to 8)"},
      {"a float k is refused", R"(
          input %x: f32[1,1] = [1]
          const %k: f32[] = [1]
          %y = Trilu(%x, %k)
          error input 1 ('k') is f32[], expected dtype i64)"},
  };
  return kCases;
}

}  // namespace rk::ops
