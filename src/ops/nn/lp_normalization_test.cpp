// SPDX-License-Identifier: Apache-2.0
// Cases of LpNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> lp_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"L2 and L1, zeros stay", R"(
          input %x: f32[2,2] = [3, -4, 0, 0]
          %y = LpNormalization(%x)
          %z = LpNormalization(%x) {p=1}
          %w = LpNormalization(%x) {axis=0, p=1}
          expect %y: f32[2,2] = [0.6, -0.8, 0, 0]
          expect %z: f32[2,2] = [0.428571429, -0.571428571, 0, 0]
          expect %w: f32[2,2] = [1, -1, 0, 0])"},
      {"another p is refused", R"(
          input %x: f32[1] = [1]
          %y = LpNormalization(%x) {p=3}
          error attribute 'p' is 3, expected 1 to 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
