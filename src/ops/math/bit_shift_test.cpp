// SPDX-License-Identifier: Apache-2.0
// Cases of BitShift.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> bit_shift_cases() {
  static constexpr OpCase kCases[] = {
      {"left drops what leaves the byte", R"(
          input %a: u8[3] = [16, 129, 1]
          input %b: u8[3] = [1, 1, 7]
          %y = BitShift(%a, %b) {direction="LEFT"}
          expect %y: u8[3] = [32, 2, 128])"},
      {"right, one amount for all", R"(
          input %a: u64[2] = [16, 4]
          input %b: u64[] = [3]
          %y = BitShift(%a, %b) {direction="RIGHT"}
          expect %y: u64[2] = [2, 0])"},
      {"the whole width leaves nothing", R"(
          input %a: u32[2] = [7, 7]
          input %b: u32[2] = [32, 1000]
          %y = BitShift(%a, %b) {direction="LEFT"}
          expect %y: u32[2] = [0, 0])"},
      {"another direction is refused", R"(
          input %a: u8[1] = [1]
          %y = BitShift(%a, %a) {direction="UP"}
          error attribute 'direction' is 'UP')"},
  };
  return kCases;
}

}  // namespace rk::ops
