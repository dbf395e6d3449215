// SPDX-License-Identifier: Apache-2.0
// Cases of RandomNormalLike: a spread of zero leaves nothing to chance. random_fill_test.cpp looks at
// the distribution.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> random_normal_like_cases() {
  static constexpr OpCase kCases[] = {
      {"shape, dtype and parameters", R"(
          input %x: i32[2,3] = [1, 2, 3, 4, 5, 6]
          %y = RandomNormalLike(%x) {mean=2.5, scale=0.0, dtype=10, seed=3.0}
          expect %y: f16[2,3] = [2.5, 2.5, 2.5, 2.5, 2.5, 2.5])"},
      {"the dtype is x's where that is a float", R"(
          input %x: f64[1] = [7]
          %y = RandomNormalLike(%x) {mean=2.5, scale=0.0}
          expect %y: f64[1] = [2.5])"},
      {"integers are refused", R"(
          input %x: f32[1] = [0]
          %y = RandomNormalLike(%x) {dtype=7}
          error attribute 'dtype' is 7)"},
  };
  return kCases;
}

}  // namespace rk::ops
