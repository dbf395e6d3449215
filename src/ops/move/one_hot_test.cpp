// SPDX-License-Identifier: Apache-2.0
// Cases of OneHot.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> one_hot_cases() {
  static constexpr OpCase kCases[] = {
      {"a new last axis", R"(
          input %i: i64[3] = [0, -1, 5]
          const %d: i64[] = [3]
          const %v: f32[2] = [0, 1]
          %y = OneHot(%i, %d, %v)
          expect %y: f32[3,3] = [1, 0, 0, 0, 0, 1, 0, 0, 0])"},
      {"a new first axis, values of int8", R"(
          input %i: i64[2] = [1, 0]
          const %d: i64[1] = [2]
          const %v: i8[2] = [3, 7]
          %y = OneHot(%i, %d, %v) {axis=0}
          expect %y: i8[2,2] = [3, 7, 7, 3])"},
      {"no depth is refused", R"(
          input %i: i64[1] = [0]
          const %d: i64[] = [0]
          const %v: f32[2] = [0, 1]
          %y = OneHot(%i, %d, %v)
          error input 1 ('depth') is 0, expected 1 or more)"},
      {"one value is refused", R"(
          input %i: i64[1] = [0]
          const %d: i64[] = [1]
          const %v: f32[1] = [0]
          %y = OneHot(%i, %d, %v)
          error input 2 ('values') is f32[1], expected shape [2])"},
  };
  return kCases;
}

}  // namespace rk::ops
