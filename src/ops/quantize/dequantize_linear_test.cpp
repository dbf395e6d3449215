// SPDX-License-Identifier: Apache-2.0
// Cases of DequantizeLinear.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> dequantize_linear_cases() {
  static constexpr OpCase kCases[] = {
      {"4-bit integers and floats of 8 and 4 bits", R"(
          const %a: i4[3] = [-8, 0, 7]
          const %b: f8e5m2[3] = [-1.5, 0, 57344]
          const %c: f4[3] = [-6, 0.5, 1.5]
          const %s: f32[] = [2]
          const %z: i4[] = [-1]
          %x = DequantizeLinear(%a, %s, %z)
          %y = DequantizeLinear(%b, %s)
          %w = DequantizeLinear(%c, %s)
          expect %x: f32[3] = [-14, 2, 16]
          expect %y: f32[3] = [-3, 0, 114688]
          expect %w: f32[3] = [-12, 1, 3])"},
      {"one scale", R"(
          input %x: i8[3] = [-128, 10, 127]
          const %s: f32[] = [0.5]
          const %z: i8[] = [10]
          %y = DequantizeLinear(%x, %s, %z)
          expect %y: f32[3] = [-69, 0, 58.5])"},
      {"per axis, i32 without zero point", R"(
          input %x: i32[2,2] = [1, 2, 3, 4]
          const %s: f32[2] = [1, 10]
          %y = DequantizeLinear(%x, %s) {axis=0}
          %z = DequantizeLinear(%x, %s)
          expect %y: f32[2,2] = [1, 2, 30, 40]
          expect %z: f32[2,2] = [1, 20, 3, 40])"},
      {"blocked, half scales", R"(
          input %x: u8[3,1] = [1, 2, 3]
          const %s: f16[2,1] = [2, 4]
          const %z: u8[2,1] = [0, 1]
          %y = DequantizeLinear(%x, %s, %z) {axis=0, block_size=2}
          expect %y: f16[3,1] = [2, 4, 8])"},
      {"floats are refused", R"(
          input %x: f32[1] = [1]
          %y = DequantizeLinear(%x, %x)
          error input 0 ('x') is f32[1], expected an integer or a float of at most 8 bits)"},
      {"a zero point of another dtype is refused", R"(
          input %x: i8[1] = [1]
          const %s: f32[] = [1]
          const %z: u8[] = [1]
          %y = DequantizeLinear(%x, %s, %z)
          error inputs 0 ('x') and 2 ('zero_point') have dtypes i8 and u8; they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
