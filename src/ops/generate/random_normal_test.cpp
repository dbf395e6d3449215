// SPDX-License-Identifier: Apache-2.0
// Cases of RandomNormal: a spread of zero leaves nothing to chance. random_fill_test.cpp looks at
// the distribution.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> random_normal_cases() {
  static constexpr OpCase kCases[] = {
      {"shape, dtype and parameters", R"(
          %y = RandomNormal() {mean=2.5, scale=0.0, dtype=10, seed=3.0, shape=[2, 3]}
          expect %y: f16[2,3] = [2.5, 2.5, 2.5, 2.5, 2.5, 2.5])"},
      {"integers are refused", R"(
          %y = RandomNormal() {dtype=7, shape=[1]}
          error attribute 'dtype' is 7)"},
  };
  return kCases;
}

}  // namespace rk::ops
