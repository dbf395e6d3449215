// SPDX-License-Identifier: Apache-2.0
// Cases of GlobalMaxPool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> global_max_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"the largest of each plane, any number dtype", R"(
          input %x: f32[1,2,2,1] = [1, 7, -3, -2]
          input %q: i8[1,1,3] = [-9, -8, -100]
          %y = GlobalMaxPool(%x)
          %z = GlobalMaxPool(%q)
          expect %y: f32[1,2,1,1] = [7, -2]
          expect %z: i8[1,1,1] = [-8])"},
      {"empty planes are refused", R"(
          input %x: f32[1,2,0] = []
          %y = GlobalMaxPool(%x)
          error expected spatial extents above 0)"},
  };
  return kCases;
}

}  // namespace rk::ops
