// SPDX-License-Identifier: Apache-2.0
// Cases of Transpose.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> transpose_cases() {
  static constexpr OpCase kCases[] = {
      {"three axes", R"(
          input %x: f32[1,2,3] = [1, 2, 3, 4, 5, 6]
          %y = Transpose(%x) {perm=[2,0,1]}
          expect %y: f32[3,1,2] = [1, 4, 2, 5, 3, 6])"},
      {"reversed without perm, one byte and eight", R"(
          input %x: i8[2,3] = [1, 2, 3, 4, 5, 6]
          input %l: i64[2,3] = [1, 2, 3, 4, 5, 6]
          %y = Transpose(%x)
          %z = Transpose(%l)
          expect %y: i8[3,2] = [1, 4, 2, 5, 3, 6]
          expect %z: i64[3,2] = [1, 4, 2, 5, 3, 6])"},
      {"a scalar and an empty tensor", R"(
          input %x: f32[] = [1]
          input %e: f16[2,0] = []
          %y = Transpose(%x)
          %z = Transpose(%e)
          expect %y: f32[] = [1]
          expect %z: f16[0,2] = [])"},
      {"an axis twice is refused", R"(
          input %x: f32[1,1] = [1]
          %y = Transpose(%x) {perm=[0,0]}
          error axis 0 is given twice)"},
      {"too few axes are refused", R"(
          input %x: f32[1,1] = [1]
          %y = Transpose(%x) {perm=[0]}
          error attribute 'perm' is [0], expected 2 axes)"},
  };
  return kCases;
}

}  // namespace rk::ops
