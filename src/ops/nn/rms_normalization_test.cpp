// SPDX-License-Identifier: Apache-2.0
// Cases of RMSNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> rms_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"the last axis", R"(
          input %x: f32[2,2] = [3, 4, 0, 0]
          const %s: f32[2] = [1, 2]
          %y = RMSNormalization(%x, %s) {epsilon=0.0625}
          expect %y: f32[2,2] = [0.846414739, 2.25710597, 0, 0])"},
      {"both axes", R"(
          input %x: f32[2,2] = [2, 2, -2, -2]
          const %s: f32[] = [1]
          %y = RMSNormalization(%x, %s) {axis=0, epsilon=0}
          expect %y: f32[2,2] = [1, 1, -1, -1])"},
      {"a scale larger than x is refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %s: f32[2,2] = [1, 1, 1, 1]
          %y = RMSNormalization(%x, %s)
          error input 1 ('scale') is [2,2])"},
  };
  return kCases;
}

}  // namespace rk::ops
