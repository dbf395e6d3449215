// SPDX-License-Identifier: Apache-2.0
// Cases of Expand.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> expand_cases() {
  static constexpr OpCase kCases[] = {
      {"both ways", R"(
          input %x: f32[2,1] = [1, 2]
          const %s: i64[3] = [2, 1, 3]
          %y = Expand(%x, %s)
          expect %y: f32[2,2,3] = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2])"},
      {"int8, fewer axes than x", R"(
          input %x: i8[2,1] = [1, 2]
          const %s: i64[1] = [2]
          %y = Expand(%x, %s)
          expect %y: i8[2,2] = [1, 1, 2, 2])"},
      {"extents that differ are refused", R"(
          input %x: f32[2] = [1, 2]
          const %s: i64[1] = [3]
          %y = Expand(%x, %s)
          error do not broadcast)"},
  };
  return kCases;
}

}  // namespace rk::ops
