// SPDX-License-Identifier: Apache-2.0
// Cases of RandomUniform: a spread of zero leaves nothing to chance. random_fill_test.cpp looks at
// the distribution.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> random_uniform_cases() {
  static constexpr OpCase kCases[] = {
      {"shape, dtype and parameters", R"(
          %y = RandomUniform() {low=2.5, high=2.5, dtype=10, seed=3.0, shape=[2, 3]}
          expect %y: f16[2,3] = [2.5, 2.5, 2.5, 2.5, 2.5, 2.5])"},
      {"integers are refused", R"(
          %y = RandomUniform() {dtype=7, shape=[1]}
          error attribute 'dtype' is 7)"},
  };
  return kCases;
}

}  // namespace rk::ops
