// SPDX-License-Identifier: Apache-2.0
// Cases of LRN.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> lrn_cases() {
  static constexpr OpCase kCases[] = {
      {"three neighboring channels, and two", R"(
          input %x: f32[1,4,1,1] = [1, 2, 3, 4]
          %y = LRN(%x) {size=3, alpha=3, beta=0.5}
          %z = LRN(%x) {size=2, alpha=1, beta=1}
          expect %y: f32[1,4,1,1] = [0.40824829, 0.516397779, 0.547722558, 0.784464541]
          expect %z: f32[1,4,1,1] = [0.285714286, 0.266666667, 0.222222222, 0.444444444])"},
      {"a size of zero is refused", R"(
          input %x: f32[1,1] = [1]
          %y = LRN(%x) {size=0}
          error attribute 'size' is 0)"},
      {"a vector is refused", R"(
          input %x: f32[1] = [1]
          %y = LRN(%x) {size=1}
          error expected rank 2 to 8)"},
  };
  return kCases;
}

}  // namespace rk::ops
