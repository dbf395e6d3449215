// SPDX-License-Identifier: Apache-2.0
// Cases of Mul.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> mul_cases() {
  static constexpr OpCase kCases[] = {
      {"a scalar on the right", R"(
          input %a: f32[3] = [1, -2, 3]
          input %b: f32[] = [-0.5]
          %y = Mul(%a, %b)
          expect %y: f32[3] = [-0.5, 1, -1.5])"},
      {"i64 products wrap", R"(
          input %a: i64[2] = [3037000500, -4]
          %y = Mul(%a, %a)
          expect %y: i64[2] = [-9223372036709301616, 16])"},
      {"u16 products wrap", R"(
          input %a: u16[1] = [65535]
          %y = Mul(%a, %a)
          expect %y: u16[1] = [1])"},
  };
  return kCases;
}

}  // namespace rk::ops
