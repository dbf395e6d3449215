// SPDX-License-Identifier: Apache-2.0
// Cases of Sign.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> sign_cases() {
  static constexpr OpCase kCases[] = {
      {"minus one, zero, one", R"(
          input %x: f32[4] = [-0.5, 0, 7, inf]
          input %u: u8[2] = [0, 200]
          %y = Sign(%x)
          %z = Sign(%u)
          expect %y: f32[4] = [-1, 0, 1, 1]
          expect %z: u8[2] = [0, 1])"},
      {"bool is refused", R"(
          input %x: bool[1] = [1]
          %y = Sign(%x)
          error expected a number dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
