// SPDX-License-Identifier: Apache-2.0
// Cases of GroupNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> group_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"two groups of two channels", R"(
          input %x: f32[1,4,1] = [1, 3, 10, 30]
          const %s: f32[4] = [1, 2, 1, 1]
          const %b: f32[4] = [0, 0, 5, 5]
          %y = GroupNormalization(%x, %s, %b) {num_groups=2, epsilon=0}
          expect %y: f32[1,4,1] = [-1, 2, 4, 6])"},
      {"groups that do not divide are refused", R"(
          input %x: f32[1,3] = [1, 2, 3]
          const %s: f32[3] = [1, 1, 1]
          %y = GroupNormalization(%x, %s, %s) {num_groups=2}
          error attribute 'num_groups' is 2, expected a divisor of the 3 channels)"},
      {"a scale per group is refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %s: f32[1] = [1]
          %y = GroupNormalization(%x, %s, %s) {num_groups=1}
          error input 1 ('scale') is f32[1], expected shape [2])"},
  };
  return kCases;
}

}  // namespace rk::ops
