// SPDX-License-Identifier: Apache-2.0
// Cases of Det.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> det_cases() {
  static constexpr OpCase kCases[] = {
      {"one matrix gives a number", R"(
          input %x: f32[2,2] = [1, 2, 3, 4]
          %y = Det(%x)
          expect %y: f32[] = [-2])"},
      {"a zero in the corner, and a singular one", R"(
          input %x: f64[2,3,3] = [0, 2, 0, 3, 0, 0, 0, 0, 5, 1, 2, 3, 2, 4, 6, 1, 1, 1]
          %y = Det(%x)
          expect %y: f64[2] = [-30, 0])"},
      {"the empty matrix has determinant 1", R"(
          input %x: f16[1,0,0] = []
          %y = Det(%x)
          expect %y: f16[1] = [1])"},
      {"others than squares are refused", R"(
          input %x: f32[1,2] = [1, 2]
          %y = Det(%x)
          error input 0 ('x') is [1,2], expected square matrices)"},
  };
  return kCases;
}

}  // namespace rk::ops
