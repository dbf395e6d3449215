// SPDX-License-Identifier: Apache-2.0
// Cases of Hardmax.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> hardmax_cases() {
  static constexpr OpCase kCases[] = {
      {"the first of equals", R"(
          input %x: f32[2,3] = [1, 5, 5, 0, -1, -2]
          %y = Hardmax(%x)
          %z = Hardmax(%x) {axis=0}
          expect %y: f32[2,3] = [0, 1, 0, 1, 0, 0]
          expect %z: f32[2,3] = [1, 1, 1, 0, 0, 0])"},
      {"an axis outside is refused", R"(
          input %x: f32[1] = [1]
          %y = Hardmax(%x) {axis=1}
          error axis 1 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
