// SPDX-License-Identifier: Apache-2.0
// Cases of QuantizeLinear.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> quantize_linear_cases() {
  static constexpr OpCase kCases[] = {
      {"halves to even, saturation, the zero point gives the dtype", R"(
          input %x: f32[7] = [0, 1, 3, -1, -3, 1000, -1000]
          const %s: f32[] = [2]
          const %z: i8[] = [10]
          %y = QuantizeLinear(%x, %s, %z)
          expect %y: i8[7] = [10, 10, 12, 10, 8, 127, -128])"},
      {"u8 without a zero point, or as asked for", R"(
          input %x: f32[2] = [-1, 300]
          const %s: f32[1] = [1]
          %y = QuantizeLinear(%x, %s)
          %z = QuantizeLinear(%x, %s) {output_dtype=5}
          expect %y: u8[2] = [0, 255]
          expect %z: i16[2] = [-1, 300])"},
      {"one scale per index of an axis", R"(
          input %x: f32[1,2,2] = [2, 4, 2, 4]
          const %s: f32[2] = [1, 2]
          const %z: u8[2] = [0, 100]
          %y = QuantizeLinear(%x, %s, %z) {axis=-2}
          expect %y: u8[1,2,2] = [2, 4, 101, 102])"},
      {"one scale per block", R"(
          input %x: f32[1,3,2] = [1, 2, 3, 4, 5, 6]
          const %s: f32[1,2,2] = [1, 2, 0.5, 1]
          %y = QuantizeLinear(%x, %s) {axis=1, block_size=2}
          expect %y: u8[1,3,2] = [1, 1, 3, 2, 10, 6])"},
      {"4-bit integers saturate at their own bounds", R"(
          input %x: f32[4] = [-40, -3, 6.5, 40]
          const %s: f32[] = [1]
          const %z: i4[] = [1]
          %y = QuantizeLinear(%x, %s, %z)
          %z2 = QuantizeLinear(%x, %s) {output_dtype=25}
          expect %y: i4[4] = [-8, -2, 7, 7]
          expect %z2: u2[4] = [0, 0, 3, 3])"},
      {"8-bit floats round to nearest even and saturate, or not", R"(
          input %x: f32[5] = [1, 2.25, 34, 1e6, -1e6]
          const %s: f32[] = [2]
          const %z: f8e4m3[] = [0]
          %y = QuantizeLinear(%x, %s, %z)
          %z2 = QuantizeLinear(%x, %s) {output_dtype=19, saturate=0}
          expect %y: f8e4m3[5] = [0.5, 1.125, 16, 448, -448]
          expect %z2: f8e5m2[5] = [0.5, 1, 16, inf, -inf])"},
      {"scales of another length are refused", R"(
          input %x: f32[1,3] = [1, 2, 3]
          const %s: f32[2] = [1, 2]
          %y = QuantizeLinear(%x, %s)
          error input 1 ('scale') is f32[2], expected shape [3])"},
      {"a zero point of another shape is refused", R"(
          input %x: f32[1,3] = [1, 2, 3]
          const %s: f32[] = [1]
          const %z: u8[3] = [0, 0, 0]
          %y = QuantizeLinear(%x, %s, %z)
          error input 2 ('zero_point') is u8[3], expected shape [])"},
      {"a negative block is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[] = [1]
          %y = QuantizeLinear(%x, %s) {block_size=-1}
          error attribute 'block_size' is -1)"},
      {"an i32 zero point is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[] = [1]
          const %z: i32[] = [0]
          %y = QuantizeLinear(%x, %s, %z)
          error output dtype i32; integers of 2 to 16 bits)"},
      {"an unknown output_dtype is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[] = [1]
          %y = QuantizeLinear(%x, %s) {output_dtype=8}
          error attribute 'output_dtype' is 8)"},
  };
  return kCases;
}

}  // namespace rk::ops
