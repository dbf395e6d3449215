// SPDX-License-Identifier: Apache-2.0
// Cases of RandomUniformLike: a spread of zero leaves nothing to chance. random_fill_test.cpp looks at
// the distribution.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> random_uniform_like_cases() {
  static constexpr OpCase kCases[] = {
      {"shape, dtype and parameters", R"(
          input %x: i32[2,3] = [1, 2, 3, 4, 5, 6]
          %y = RandomUniformLike(%x) {low=2.5, high=2.5, dtype=10, seed=3.0}
          expect %y: f16[2,3] = [2.5, 2.5, 2.5, 2.5, 2.5, 2.5])"},
      {"the dtype is x's where that is a float", R"(
          input %x: f64[1] = [7]
          %y = RandomUniformLike(%x) {low=2.5, high=2.5}
          expect %y: f64[1] = [2.5])"},
      {"integers are refused", R"(
          input %x: f32[1] = [0]
          %y = RandomUniformLike(%x) {dtype=7}
          error attribute 'dtype' is 7)"},
  };
  return kCases;
}

}  // namespace rk::ops
