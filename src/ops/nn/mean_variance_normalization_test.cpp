// SPDX-License-Identifier: Apache-2.0
// Cases of MeanVarianceNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> mean_variance_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"the default axes leave the channels apart", R"(
          input %x: f32[2,2,1,1] = [1, 10, 3, 30]
          %y = MeanVarianceNormalization(%x)
          expect %y: f32[2,2,1,1] = [-1, -1, 1, 1])"},
      {"the last axis, a constant row gives zeros", R"(
          input %x: f32[2,2] = [0, 4, 5, 5]
          %y = MeanVarianceNormalization(%x) {axes=[-1]}
          expect %y: f32[2,2] = [-1, 1, 0, 0])"},
      {"an axis outside is refused", R"(
          input %x: f32[2,2] = [0, 4, 5, 5]
          %y = MeanVarianceNormalization(%x)
          error axis 2 is outside rank 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
