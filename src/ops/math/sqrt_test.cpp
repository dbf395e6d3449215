// SPDX-License-Identifier: Apache-2.0
// Cases of Sqrt.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> sqrt_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 4 places", R"(
          input %x: f32[4] = [0, 0.25, 2, 144]
          %y = Sqrt(%x)
          expect %y: f32[4] = [0, 0.5, 1.41421356, 12])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Sqrt(%x)
          expect %y: f16[] = [1])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Sqrt(%x)
          expect %y: f32[0,3] = [])"},
      {"below zero is not a number", R"(
          input %x: f32[1] = [-1]
          %y = Sqrt(%x)
          expect %y: f32[1] = [nan])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Sqrt(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
