// SPDX-License-Identifier: Apache-2.0
// Cases of ConvInteger.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> conv_integer_cases() {
  static constexpr OpCase kCases[] = {
      {"zero points are taken off, padding counts for nothing", R"(
          input %x: u8[1,1,2,2] = [11, 12, 13, 14]
          const %w: i8[1,1,2,2] = [1, 1, 1, 1]
          const %zx: u8[] = [10]
          %y = ConvInteger(%x, %w, %zx) {pads=[0,0,1,1]}
          expect %y: i32[1,1,2,2] = [10, 6, 7, 4])"},
      {"a zero point per output channel", R"(
          input %x: i8[1,1,1,2] = [-128, 127]
          const %w: i8[2,1,1,2] = [127, -128, 1, 2]
          const %zx: i8[] = [0]
          const %zw: i8[2] = [-128, 1]
          %y = ConvInteger(%x, %w, %zx, %zw)
          expect %y: i32[1,2,1,1] = [-32640, 127])"},
      {"sums beyond 2^24 stay exact", R"(
          input %a: u8[1,1,1,1] = [255]
          const %shape: i64[4] = [1,1,1,1030]
          %x = Expand(%a, %shape)
          const %b: u8[1,1,1,1] = [255]
          %w = Expand(%b, %shape)
          %y = ConvInteger(%x, %w)
          expect %y: i32[1,1,1,1] = [66975750])"},
      {"floats are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          const %w: i8[1,1,1,1] = [1]
          %y = ConvInteger(%x, %w)
          error input 0 ('x') is f32[1,1,1,1], expected dtype i8 or u8)"},
      {"a zero point of another length is refused", R"(
          input %x: i8[1,1,1,1] = [1]
          const %w: i8[1,1,1,1] = [1]
          const %z: i8[2] = [1, 2]
          %y = ConvInteger(%x, %w, %z)
          error input 2 ('x_zero_point') is [2], expected one number)"},
  };
  return kCases;
}

}  // namespace rk::ops
