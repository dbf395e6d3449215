// SPDX-License-Identifier: Apache-2.0
// Cases of IsInf.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> is_inf_cases() {
  static constexpr OpCase kCases[] = {
      {"both signs, or one", R"(
          input %x: f32[4] = [1, nan, inf, -inf]
          %y = IsInf(%x)
          %p = IsInf(%x) {detect_negative=0}
          %n = IsInf(%x) {detect_positive=0}
          expect %y: bool[4] = [0, 0, 1, 1]
          expect %p: bool[4] = [0, 0, 1, 0]
          expect %n: bool[4] = [0, 0, 0, 1])"},
      {"integers are refused", R"(
          input %x: i32[1] = [1]
          %y = IsInf(%x)
          error expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
