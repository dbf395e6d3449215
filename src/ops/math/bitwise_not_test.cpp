// SPDX-License-Identifier: Apache-2.0
// Cases of BitwiseNot.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> bitwise_not_cases() {
  static constexpr OpCase kCases[] = {
      {"signed numbers", R"(
          input %x: i32[3] = [0, -1, 41]
          %y = BitwiseNot(%x)
          expect %y: i32[3] = [-1, 0, -42])"},
      {"unsigned bytes", R"(
          input %x: u8[2] = [0, 170]
          %y = BitwiseNot(%x)
          expect %y: u8[2] = [255, 85])"},
      {"bool is refused", R"(
          input %x: bool[1] = [1]
          %y = BitwiseNot(%x)
          error input 0 ('x') is bool[1], expected an integer dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
