// SPDX-License-Identifier: Apache-2.0
// Cases of Relu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> relu_cases() {
  static constexpr OpCase kCases[] = {
      {"below zero is cut", R"(
          input %x: f32[2,3] = [-1, 0, 1, -0.5, 2, -inf]
          %y = Relu(%x)
          expect %y: f32[2,3] = [0, 0, 1, 0, 2, 0])"},
      {"integers and half floats work too", R"(
          input %x: i8[3] = [-128, 0, 127]
          input %h: f16[2] = [-1, 1.5]
          %y = Relu(%x)
          %z = Relu(%h)
          expect %y: i8[3] = [0, 0, 127]
          expect %z: f16[2] = [0, 1.5])"},
      {"a NaN stays", R"(
          input %x: f32[1] = [nan]
          %y = Relu(%x)
          expect %y: f32[1] = [nan])"},
      {"bool is refused", R"(
          input %x: bool[1] = [1]
          %y = Relu(%x)
          error input 0 ('x') is bool[1], expected a number dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
