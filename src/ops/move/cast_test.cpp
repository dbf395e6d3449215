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
      {"integers of 4 and 2 bits keep the low bits of integers", R"(
          input %x: i32[3] = [17, -9, 7]
          %y = Cast(%x) {to=22}
          %z = Cast(%x) {to=25}
          %w = Cast(%y) {to=1}
          expect %y: i4[3] = [1, 7, 7]
          expect %z: u2[3] = [1, 3, 3]
          expect %w: f32[3] = [1, 7, 7])"},
      {"to 8-bit floats with and without saturation", R"(
          input %x: f32[3] = [0.3, 1000, -1000]
          %y = Cast(%x) {to=17}
          %z = Cast(%x) {to=17, saturate=0}
          %a = Cast(%x) {to=24}
          %b = Cast(%x) {to=24, round_mode="down"}
          expect %y: f8e4m3[3] = [0.3125, 448, -448]
          expect %z: f8e4m3[3] = [0.3125, nan, nan]
          expect %a: f8e8m0[3] = [0.5, 1024, 1024]
          expect %b: f8e8m0[3] = [0.25, 512, 512])"},
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
