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
          error output dtype i32; i8, u8, i16 and u16 are supported)"},
      {"an unknown output_dtype is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[] = [1]
          %y = QuantizeLinear(%x, %s) {output_dtype=17}
          error attribute 'output_dtype' is 17)"},
  };
  return kCases;
}

}  // namespace rk::ops
