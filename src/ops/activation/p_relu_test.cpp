// SPDX-License-Identifier: Apache-2.0
// Cases of PRelu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> p_relu_cases() {
  static constexpr OpCase kCases[] = {
      {"a slope per channel", R"(
          input %x: f32[1,2,1,2] = [-1, 2, -3, 4]
          const %s: f32[2,1,1] = [0.5, 10]
          %y = PRelu(%x, %s)
          expect %y: f32[1,2,1,2] = [-0.5, 2, -30, 4])"},
      {"one slope", R"(
          input %x: f32[3] = [-4, 0, 4]
          const %s: f32[1] = [0.25]
          %y = PRelu(%x, %s)
          expect %y: f32[3] = [-1, 0, 4])"},
      {"a slope larger than x is refused", R"(
          input %x: f32[1] = [0]
          const %s: f32[2] = [1, 2]
          %y = PRelu(%x, %s)
          error slope [2] does not broadcast to x [1])"},
  };
  return kCases;
}

}  // namespace rk::ops
