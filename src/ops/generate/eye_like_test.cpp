// SPDX-License-Identifier: Apache-2.0
// Cases of EyeLike.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> eye_like_cases() {
  static constexpr OpCase kCases[] = {
      {"the diagonal, shifted either way", R"(
          input %x: i32[2,3] = [9, 9, 9, 9, 9, 9]
          %y = EyeLike(%x)
          %z = EyeLike(%x) {k=1, dtype=1}
          %w = EyeLike(%x) {k=-1}
          %n = EyeLike(%x) {k=9223372036854775807}
          expect %y: i32[2,3] = [1, 0, 0, 0, 1, 0]
          expect %z: f32[2,3] = [0, 1, 0, 0, 0, 1]
          expect %w: i32[2,3] = [0, 0, 0, 1, 0, 0]
          expect %n: i32[2,3] = [0, 0, 0, 0, 0, 0])"},
      {"a vector is refused", R"(
          input %x: f32[1] = [1]
          %y = EyeLike(%x)
          error expected rank 2)"},
      {"an unknown dtype is refused", R"(
          input %x: f32[1,1] = [1]
          %y = EyeLike(%x) {dtype=8}
          error attribute 'dtype' is 8)"},
  };
  return kCases;
}

}  // namespace rk::ops
