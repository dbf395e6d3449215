// SPDX-License-Identifier: Apache-2.0
// Cases of Acosh.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> acosh_cases() {
  static constexpr OpCase kCases[] = {
      {"values of the formula at 3 places", R"(
          input %x: f32[3] = [1, 1.5, 10]
          %y = Acosh(%x)
          expect %y: f32[3] = [0, 0.96242365, 2.99322285])"},
      {"a scalar in half precision is rounded once", R"(
          input %x: f16[] = [1]
          %y = Acosh(%x)
          expect %y: f16[] = [0])",
       1e-3},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = Acosh(%x)
          expect %y: f32[0,3] = [])"},
      {"outside the domain it is not a number", R"(
          input %x: f32[1] = [0]
          %y = Acosh(%x)
          expect %y: f32[1] = [nan])"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = Acosh(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
