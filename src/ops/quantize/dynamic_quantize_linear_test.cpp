// SPDX-License-Identifier: Apache-2.0
// Cases of DynamicQuantizeLinear.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> dynamic_quantize_linear_cases() {
  static constexpr OpCase kCases[] = {
      {"the range holds zero, halves to even", R"(
          input %x: f32[4] = [-51, 0, 1.5, 204]
          %y, %s, %z = DynamicQuantizeLinear(%x)
          expect %y: u8[4] = [0, 51, 53, 255]
          expect %s: f32[] = [1]
          expect %z: u8[] = [51])"},
      {"positive data start at zero", R"(
          input %x: f32[2] = [25.5, 51]
          %y, %s, %z = DynamicQuantizeLinear(%x)
          expect %y: u8[2] = [128, 255]
          expect %s: f32[] = [0.2]
          expect %z: u8[] = [0])"},
      {"zeros have scale zero", R"(
          input %x: f32[2] = [0, 0]
          %y, %s = DynamicQuantizeLinear(%x)
          expect %y: u8[2] = [0, 0]
          expect %s: f32[] = [0])"},
      {"integers are refused", R"(
          input %x: i32[1] = [1]
          %y = DynamicQuantizeLinear(%x)
          error input 0 ('x') is i32[1], expected a float dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
