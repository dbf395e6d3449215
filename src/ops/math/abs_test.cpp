// SPDX-License-Identifier: Apache-2.0
// Cases of Abs.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> abs_cases() {
  static constexpr OpCase kCases[] = {
      {"magnitudes", R"(
          input %x: f32[4] = [-1.5, 0, 2, -inf]
          %y = Abs(%x)
          expect %y: f32[4] = [1.5, 0, 2, inf])"},
      {"the most negative integer has no magnitude of its type", R"(
          input %x: i8[3] = [-128, -5, 7]
          input %l: i64[1] = [-9223372036854775808]
          %y = Abs(%x)
          %z = Abs(%l)
          expect %y: i8[3] = [-128, 5, 7]
          expect %z: i64[1] = [-9223372036854775808])"},
      {"bool is refused", R"(
          input %x: bool[1] = [1]
          %y = Abs(%x)
          error expected a number dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
