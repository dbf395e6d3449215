// SPDX-License-Identifier: Apache-2.0
// Cases of ArgMin.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> arg_min_cases() {
  static constexpr OpCase kCases[] = {
      {"first and last of equals", R"(
          input %x: f32[2,3] = [5, 1, 5, 1, 5, 1]
          %y = ArgMin(%x) {axis=-1}
          %z = ArgMin(%x) {axis=-1, select_last_index=1, keepdims=0}
          expect %y: i64[2,1] = [1, 0]
          expect %z: i64[2] = [1, 2])"},
      {"the outer axis by default, int8", R"(
          input %x: i8[2,2] = [-1, 7, -2, 9]
          %y = ArgMin(%x)
          expect %y: i64[1,2] = [1, 0])"},
      {"an empty axis is refused", R"(
          input %x: f32[2,0] = []
          %y = ArgMin(%x) {axis=1}
          error expected an extent above 0 on axis 1)"},
      {"an axis outside is refused", R"(
          input %x: f32[2] = [1, 2]
          %y = ArgMin(%x) {axis=2}
          error axis 2 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
