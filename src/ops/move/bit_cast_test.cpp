// SPDX-License-Identifier: Apache-2.0
// Cases of BitCast.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> bit_cast_cases() {
  static constexpr OpCase kCases[] = {
      {"floats show their bits", R"(
          input %x: f32[3] = [1, -2, 0]
          %y = BitCast(%x) {to=6}
          expect %y: i32[3] = [1065353216, -1073741824, 0])"},
      {"and back", R"(
          input %x: u16[1,2] = [15360, 49152]
          %y = BitCast(%x) {to=10}
          expect %y: f16[1,2] = [1, -2])"},
      {"signed bytes become unsigned", R"(
          input %x: i8[2] = [-1, 5]
          %y = BitCast(%x) {to=2}
          expect %y: u8[2] = [255, 5])"},
      {"another width is refused", R"(
          input %x: f32[1] = [1]
          %y = BitCast(%x) {to=7}
          error the dtypes must be of the same width)"},
      {"an unknown dtype is refused", R"(
          input %x: f32[1] = [1]
          %y = BitCast(%x) {to=99}
          error attribute 'to' is 99)"},
  };
  return kCases;
}

}  // namespace rk::ops
