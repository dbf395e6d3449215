// SPDX-License-Identifier: Apache-2.0
// Cases of LeakyRelu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> leaky_relu_cases() {
  static constexpr OpCase kCases[] = {
      {"the slope applies below zero only", R"(
          input %x: f32[5] = [-4, -0.5, 0, 0.5, 3]
          %y = LeakyRelu(%x) {alpha=0.25}
          expect %y: f32[5] = [-1, -0.125, 0, 0.5, 3])"},
      {"the default slope is 0.01, a scalar is fine", R"(
          input %x: f32[] = [-3]
          %y = LeakyRelu(%x)
          expect %y: f32[] = [-0.03])"},
      {"an empty tensor stays empty", R"(
          input %x: f32[2,0] = []
          %y = LeakyRelu(%x)
          expect %y: f32[2,0] = [])"},
      {"half floats are rounded once", R"(
          input %x: f16[2] = [-1, 2]
          %y = LeakyRelu(%x) {alpha=0.5}
          expect %y: f16[2] = [-0.5, 2])"},
      {"integers are refused", R"(
          input %x: i32[1] = [-1]
          %y = LeakyRelu(%x)
          error input 0 ('x') is i32[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
