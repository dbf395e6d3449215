// SPDX-License-Identifier: Apache-2.0
// Cases of NonMaxSuppression.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> non_max_suppression_cases() {
  static constexpr OpCase kCases[] = {
      // The second box covers 2/3 of what it shares with the first; the third lies apart.
      {"a box that overlaps a better one goes; corners in any order", R"(
          input %b: f32[1,3,4] = [0, 0, 1, 1, 0.2, 0, 1.2, 1, 6, 6, 5, 5]
          input %s: f32[1,1,3] = [0.9, 0.8, 0.95]
          const %k: i64[] = [3]
          const %t: f32[] = [0.5]
          %y, %n = NonMaxSuppression(%b, %s, %k, %t)
          expect %y: i64[3,3] = [0, 0, 2, 0, 0, 0, -1, -1, -1]
          expect %n: i64[1] = [2])"},
      {"with a higher threshold it stays", R"(
          input %b: f32[1,2,4] = [0, 0, 1, 1, 0.2, 0, 1.2, 1]
          input %s: f32[1,1,2] = [0.8, 0.9]
          const %k: i64[1] = [2]
          const %t: f32[1] = [0.7]
          %y = NonMaxSuppression(%b, %s, %k, %t)
          expect %y: i64[2,3] = [0, 0, 1, 0, 0, 0])"},
      {"center form, two classes, a least score and one box per class", R"(
          input %b: f32[1,2,4] = [0.5, 0.5, 1, 1, 10, 10, 1, 1]
          input %s: f32[1,2,2] = [0.6, 0.7, 0.3, 0.4]
          const %k: i64[] = [1]
          const %t: f32[] = [0.5]
          const %l: f32[] = [0.5]
          %y, %n = NonMaxSuppression(%b, %s, %k, %t, %l) {center_point_box=1}
          expect %y: i64[2,3] = [0, 0, 1, -1, -1, -1]
          expect %n: i64[1] = [1])"},
      {"boxes of another shape are refused", R"(
          input %b: f32[1,2,3] = [0, 0, 0, 0, 0, 0]
          input %s: f32[1,1,2] = [0, 0]
          %y = NonMaxSuppression(%b, %s)
          error boxes are [1,2,3] and scores [1,1,2])"},
  };
  return kCases;
}

}  // namespace rk::ops
