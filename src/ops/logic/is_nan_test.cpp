// SPDX-License-Identifier: Apache-2.0
// Cases of IsNaN.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> is_nan_cases() {
  static constexpr OpCase kCases[] = {
      {"only NaN", R"(
          input %x: f32[4] = [1, nan, inf, -inf]
          input %h: f16[2] = [nan, 0]
          %y = IsNaN(%x)
          %z = IsNaN(%h)
          expect %y: bool[4] = [0, 1, 0, 0]
          expect %z: bool[2] = [1, 0])"},
      {"integers are refused", R"(
          input %x: i32[1] = [1]
          %y = IsNaN(%x)
          error expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
