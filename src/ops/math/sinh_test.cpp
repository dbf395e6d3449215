// SPDX-License-Identifier: Apache-2.0
// Cases of Sinh.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> sinh_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1.25, -0.5, 0, 0.75, 1.5]
          %y = Sinh(%x)
          expect %y: f32[5] = [-1.60191908, -0.521095305, 0, 0.822316732, 2.12927946])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Sinh(%x)
          expect %y: f16[] = [1.17520119])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Sinh(%x)
          expect %y: f32[0,3] = [])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Sinh(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
