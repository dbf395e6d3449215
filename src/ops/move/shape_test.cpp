// SPDX-License-Identifier: Apache-2.0
// Cases of Shape.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> shape_cases() {
  static constexpr OpCase kCases[] = {
      {"all extents, or a part", R"(
          input %x: i8[2,3,4] = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
          %y = Shape(%x)
          %z = Shape(%x) {start=-2}
          %w = Shape(%x) {start=1, end=-1}
          %e = Shape(%x) {start=2, end=-100}
          expect %y: i64[3] = [2, 3, 4]
          expect %z: i64[2] = [3, 4]
          expect %w: i64[1] = [3]
          expect %e: i64[0] = [])"},
      {"a scalar has none", R"(
          input %x: f32[] = [1]
          %y = Shape(%x)
          expect %y: i64[0] = [])"},
  };
  return kCases;
}

}  // namespace rk::ops
