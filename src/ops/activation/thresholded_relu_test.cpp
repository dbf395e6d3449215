// SPDX-License-Identifier: Apache-2.0
// Cases of ThresholdedRelu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> thresholded_relu_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 4 places", R"(
          input %x: f32[4] = [-2, 0.5, 0.6, 3]
          %y = ThresholdedRelu(%x) {alpha=0.5}
          expect %y: f32[4] = [0, 0, 0.6, 3])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = ThresholdedRelu(%x) {alpha=0.5}
          expect %y: f16[] = [1])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = ThresholdedRelu(%x) {alpha=0.5}
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = ThresholdedRelu(%x) {alpha=0.5}
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
