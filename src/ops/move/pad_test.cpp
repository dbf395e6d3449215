// SPDX-License-Identifier: Apache-2.0
// Cases of Pad.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> pad_cases() {
  static constexpr OpCase kCases[] = {
      {"a constant around, value given", R"(
          input %x: f32[1,2] = [1, 2]
          const %p: i64[4] = [1, 0, 0, 2]
          const %v: f32[] = [9]
          %y = Pad(%x, %p, %v)
          expect %y: f32[2,4] = [9, 9, 9, 9, 1, 2, 9, 9])"},
      {"negative pads cut", R"(
          input %x: i8[4] = [1, 2, 3, 4]
          const %p: i64[2] = [-1, 2]
          %y = Pad(%x, %p)
          expect %y: i8[5] = [2, 3, 4, 0, 0])"},
      {"reflect, edge and wrap", R"(
          input %x: f32[3] = [1, 2, 3]
          const %p: i64[2] = [2, 1]
          const %q: i64[2] = [4, 1]
          %a = Pad(%x, %p) {mode="reflect"}
          %b = Pad(%x, %p) {mode="edge"}
          %c = Pad(%x, %q) {mode="wrap"}
          expect %a: f32[6] = [3, 2, 1, 2, 3, 2]
          expect %b: f32[6] = [1, 1, 1, 2, 3, 3]
          expect %c: f32[8] = [3, 1, 2, 3, 1, 2, 3, 1])"},
      {"only the axes given", R"(
          input %x: f32[1,1] = [5]
          const %p: i64[2] = [1, 0]
          const %a: i64[1] = [-1]
          %y = Pad(%x, %p, _, %a)
          expect %y: f32[1,2] = [0, 5])"},
      {"too few pads are refused", R"(
          input %x: f32[1,1] = [5]
          const %p: i64[2] = [1, 0]
          %y = Pad(%x, %p)
          error input 1 ('pads') has 2 values, expected 4)"},
      {"a reflection beyond the extent is refused", R"(
          input %x: f32[2] = [1, 2]
          const %p: i64[2] = [2, 0]
          %y = Pad(%x, %p) {mode="reflect"}
          error mode 'reflect' takes less than the extent 2)"},
      {"an empty axis has no edge", R"(
          input %x: f32[0] = []
          const %p: i64[2] = [1, 0]
          %y = Pad(%x, %p) {mode="edge"}
          error mode 'edge' cannot pad axis 0, whose extent is 0)"},
      {"cutting more than there is is refused", R"(
          input %x: f32[2] = [1, 2]
          const %p: i64[2] = [-2, -1]
          %y = Pad(%x, %p)
          error does not fit x [2])"},
      {"pads that overflow are refused", R"(
          input %x: f32[2] = [1, 2]
          const %p: i64[2] = [9223372036854775807, 1]
          %y = Pad(%x, %p)
          error does not fit x [2])"},
      {"an unknown mode is refused", R"(
          input %x: f32[2] = [1, 2]
          const %p: i64[2] = [1, 1]
          %y = Pad(%x, %p) {mode="symmetric"}
          error attribute 'mode' is 'symmetric')"},
      {"a value of another dtype is refused", R"(
          input %x: f32[2] = [1, 2]
          const %p: i64[2] = [1, 1]
          const %v: i32[] = [1]
          %y = Pad(%x, %p, %v)
          error they must be the same)"},
  };
  return kCases;
}

}  // namespace rk::ops
