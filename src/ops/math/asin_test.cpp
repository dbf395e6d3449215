// SPDX-License-Identifier: Apache-2.0
// Cases of Asin.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> asin_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 5 places", R"(
          input %x: f32[5] = [-1, -0.5, 0, 0.25, 1]
          %y = Asin(%x)
          expect %y: f32[5] = [-1.57079633, -0.523598776, 0, 0.252680255, 1.57079633])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Asin(%x)
          expect %y: f16[] = [1.57079633])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Asin(%x)
          expect %y: f32[0,3] = [])"},
      {"outside the domain it is not a number", R"(
          input %x: f32[1] = [2]
          %y = Asin(%x)
          expect %y: f32[1] = [nan])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Asin(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
