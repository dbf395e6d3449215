// SPDX-License-Identifier: Apache-2.0
// Cases of HardSigmoid.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> hard_sigmoid_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = HardSigmoid(%x)
          expect %y: f32[5] = [0, 0.35, 0.5, 0.6, 0.95])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = HardSigmoid(%x)
          expect %y: f16[] = [0.7])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = HardSigmoid(%x)
          expect %y: f32[0,3] = [])"},
      {"slope and offset are attributes", R"(
          input %x: f32[4] = [-3, -1, 1, 4]
          %y = HardSigmoid(%x) {alpha=0.25, beta=0.5}
          expect %y: f32[4] = [0, 0.25, 0.75, 1])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = HardSigmoid(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
