// SPDX-License-Identifier: Apache-2.0
// Cases of Compress.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> compress_cases() {
  static constexpr OpCase kCases[] = {
      {"a known condition along an axis", R"(
          input %x: f32[3,2] = [1, 2, 3, 4, 5, 6]
          const %c: bool[3] = [0, 1, 1]
          %y, %n = Compress(%x, %c) {axis=0}
          expect %y: f32[2,2] = [3, 4, 5, 6]
          expect %n: i64[1] = [2])"},
      {"flattened, condition shorter than the data", R"(
          input %x: i32[3,2] = [1, 2, 3, 4, 5, 6]
          const %c: bool[5] = [0, 1, 0, 0, 1]
          %y = Compress(%x, %c)
          expect %y: i32[2] = [2, 5])"},
      {"a condition of run time leaves room and fills it with zero", R"(
          input %x: f32[2,3] = [1, 2, 3, 4, 5, 6]
          input %c: bool[3] = [1, 0, 1]
          %y, %n = Compress(%x, %c) {axis=-1}
          expect %y: f32[2,3] = [1, 3, 0, 4, 6, 0]
          expect %n: i64[1] = [2])"},
      {"a condition that is no bool is refused", R"(
          input %x: f32[2] = [1, 2]
          input %c: i64[2] = [1, 0]
          %y = Compress(%x, %c)
          error input 1 ('condition') is i64[2], expected dtype bool)"},
  };
  return kCases;
}

}  // namespace rk::ops
