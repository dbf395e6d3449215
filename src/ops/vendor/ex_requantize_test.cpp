// SPDX-License-Identifier: Apache-2.0
// Cases of exRequantize; numbers by hand.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_requantize_cases() {
  static constexpr OpCase kCases[] = {
      // 10 / 4 is 2 (a tie, to even), 2 * 3 / 4 = 1.5 is 2; in one step it would be 1.875.
      {"rounds twice, ties to even", R"(
          input %x: f32[4] = [10, -10, 6, 1000]
          %y = exRequantize(%x) {first_shift=2, scale=3, shift=2}
          expect %y: f32[4] = [2, -2, 2, 127])"},
      {"limits around the zero point", R"(
          input %x: f32[3] = [100, -300, 0]
          %y = exRequantize(%x) {zero_point=100, unit=0.5}
          expect %y: f32[3] = [13.5, -114, 0])"},
      {"sums beyond 32 bits and what is no number are harmless", R"(
          input %x: f32[3] = [1e30, -inf, nan]
          %y = exRequantize(%x) {first_scale=32767, scale=32767}
          expect %y: f32[3] = [127, -128, 0])"},
      {"a half goes through float32", R"(
          input %x: f16[2] = [6, -7]
          %y = exRequantize(%x) {shift=1}
          expect %y: f16[2] = [3, -4])"},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,3] = []
          %y = exRequantize(%x)
          expect %y: f32[0,3] = [])"},
      {"a shift of 51 is refused", R"(
          input %x: f32[1] = [1]
          %y = exRequantize(%x) {shift=51}
          error shift is 51, expected 0 to 50)"},
      {"integers are refused", R"(
          input %x: i64[1] = [1]
          %y = exRequantize(%x)
          error input 0 ('x') is i64[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
