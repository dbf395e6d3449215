// SPDX-License-Identifier: Apache-2.0
// Cases of GlobalLpPool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> global_lp_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"the length of each plane", R"(
          input %x: f32[1,2,1,2] = [3, -4, 5, 12]
          %y = GlobalLpPool(%x)
          expect %y: f32[1,2,1,1] = [5, 13])"},
      {"p 1 adds up the absolute values, p 3 takes the cubic root", R"(
          input %x: f16[1,1,3] = [3, -4, 5]
          %a = GlobalLpPool(%x) {p=1}
          %b = GlobalLpPool(%x) {p=3}
          expect %a: f16[1,1,1] = [12]
          expect %b: f16[1,1,1] = [6])"},
      {"p 0 is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = GlobalLpPool(%x) {p=0}
          error attribute 'p' is 0)"},
      {"a plane of nothing is refused", R"(
          input %x: f32[1,1,0] = []
          %y = GlobalLpPool(%x)
          error expected spatial extents above 0)"},
  };
  return kCases;
}

}  // namespace rk::ops
