// SPDX-License-Identifier: Apache-2.0
// Cases of Identity.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> identity_cases() {
  static constexpr OpCase kCases[] = {
      {"any dtype, unchanged", R"(
          input %x: bool[2] = [1, 0]
          input %z: f32[1] = [nan]
          %y = Identity(%x)
          %w = Identity(%z)
          expect %y: bool[2] = [1, 0]
          expect %w: f32[1] = [nan])"},
  };
  return kCases;
}

}  // namespace rk::ops
