// SPDX-License-Identifier: Apache-2.0
// Cases of SwiGLU. sigmoid(ln 3) = 3/4.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> swi_glu_cases() {
  static constexpr OpCase kCases[] = {
      {"the gate is the first input", R"(
          input %a: f32[2] = [1.09861229, -1.09861229]
          input %b: f32[2] = [4, 8]
          %y = SwiGLU(%a, %b)
          expect %y: f32[2] = [3.29583687, -2.19722458])"},
      {"alpha, and one factor for all", R"(
          input %a: f32[1,2] = [0.549306144, 0]
          input %b: f32[] = [2]
          %y = SwiGLU(%a, %b) {alpha=2.0}
          expect %y: f32[1,2] = [0.823959216, 0])"},
      {"integers are refused", R"(
          input %a: i32[1] = [1]
          %y = SwiGLU(%a, %a)
          error input 0 ('a') is i32[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
