// SPDX-License-Identifier: Apache-2.0
// Cases of Size.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> size_cases() {
  static constexpr OpCase kCases[] = {
      {"the number of elements", R"(
          input %x: f32[2,3] = [1, 2, 3, 4, 5, 6]
          %y = Size(%x)
          expect %y: i64[] = [6])"},
      {"none", R"(
          input %x: f32[2,0] = []
          %y = Size(%x)
          expect %y: i64[] = [0])"},
  };
  return kCases;
}

}  // namespace rk::ops
