// SPDX-License-Identifier: Apache-2.0
// Cases of CumSum.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> cum_sum_cases() {
  static constexpr OpCase kCases[] = {
      {"plain, exclusive, reverse", R"(
          input %x: f32[3] = [1, 2, 4]
          input %a: i64[] = [0]
          %y = CumSum(%x, %a)
          %e = CumSum(%x, %a) {exclusive=1}
          %r = CumSum(%x, %a) {reverse=1}
          %b = CumSum(%x, %a) {exclusive=1, reverse=1}
          expect %y: f32[3] = [1, 3, 7]
          expect %e: f32[3] = [0, 1, 3]
          expect %r: f32[3] = [7, 6, 4]
          expect %b: f32[3] = [6, 4, 0])"},
      {"a negative axis of integers", R"(
          input %x: i32[2,2] = [1, 2, 3, 4]
          const %a: i32[1] = [-2]
          %y = CumSum(%x, %a)
          expect %y: i32[2,2] = [1, 2, 4, 6])"},
      {"an axis outside is refused", R"(
          input %x: f32[1] = [1]
          const %a: i64[] = [1]
          %y = CumSum(%x, %a)
          error axis 1 is outside rank 1)"},
      {"an axis outside is an error at run time too", R"(
          input %x: f32[1] = [1]
          input %a: i64[] = [-2]
          %y = CumSum(%x, %a)
          error axis -2 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
