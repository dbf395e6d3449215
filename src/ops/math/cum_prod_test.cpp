// SPDX-License-Identifier: Apache-2.0
// Cases of CumProd.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> cum_prod_cases() {
  static constexpr OpCase kCases[] = {
      {"along the last axis, and the first", R"(
          input %x: f64[2,3] = [1, 2, 3, 4, 5, 6]
          const %last: i64[] = [-1]
          const %first: i32[1] = [0]
          %y = CumProd(%x, %last)
          %z = CumProd(%x, %first)
          expect %y: f64[2,3] = [1, 2, 6, 4, 20, 120]
          expect %z: f64[2,3] = [1, 2, 3, 4, 10, 18])"},
      {"from the end, without the element itself", R"(
          input %x: i32[4] = [2, 3, 4, 5]
          const %axis: i64[] = [0]
          %y = CumProd(%x, %axis) {exclusive=1, reverse=1}
          expect %y: i32[4] = [60, 20, 5, 1])"},
      {"an axis outside is refused", R"(
          input %x: f32[2] = [1, 2]
          const %axis: i64[] = [1]
          %y = CumProd(%x, %axis)
          error axis 1 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
