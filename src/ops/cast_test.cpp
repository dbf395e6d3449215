// SPDX-License-Identifier: Apache-2.0
// Cases of Cast.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> cast_cases() {
  static constexpr OpCase kCases[] = {
      {"floats truncate and saturate", R"(
          input %x: f32[5] = [1.9, -1.9, 300, -300, 0.5]
          %y = Cast(%x) {to=3}
          %b = Cast(%x) {to=9}
          expect %y: i8[5] = [1, -1, 127, -128, 0]
          expect %b: bool[5] = [1, 1, 1, 1, 1])"},
      {"to half and back", R"(
          input %x: f32[2] = [1.0001, 65520]
          %y = Cast(%x) {to=10}
          %z = Cast(%y) {to=1}
          expect %z: f32[2] = [1, inf])"},
      {"i64 to i32 keeps the low bits", R"(
          input %x: i64[2] = [4294967297, -1]
          %y = Cast(%x) {to=6}
          expect %y: i32[2] = [1, -1])"},
      {"bool to float", R"(
          input %x: bool[2] = [0, 1]
          %y = Cast(%x) {to=1}
          expect %y: f32[2] = [0, 1])"},
      {"strings are refused", R"(
          input %x: f32[1] = [1]
          %y = Cast(%x) {to=8}
          error attribute 'to' is 8, which is no supported dtype)"},
      {"to is required", R"(
          input %x: f32[1] = [1]
          %y = Cast(%x)
          error attribute 'to' is required and missing)"},
  };
  return kCases;
}

}  // namespace rk::ops
