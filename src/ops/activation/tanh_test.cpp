// SPDX-License-Identifier: Apache-2.0
// Cases of Tanh.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> tanh_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-3, -0.75, 0, 0.5, 2.25]
          %y = Tanh(%x)
          expect %y: f32[5] = [-0.995054754, -0.635148952, 0, 0.462117157, 0.978026115])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Tanh(%x)
          expect %y: f16[] = [0.761594156])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Tanh(%x)
          expect %y: f32[0,3] = [])"},
      {"large arguments reach the limits", R"(
          input %x: f32[2] = [-200, 200]
          %y = Tanh(%x)
          expect %y: f32[2] = [-1, 1])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Tanh(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
