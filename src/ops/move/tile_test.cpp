// SPDX-License-Identifier: Apache-2.0
// Cases of Tile.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> tile_cases() {
  static constexpr OpCase kCases[] = {
      {"both axes", R"(
          input %x: i8[2,2] = [1, 2, 3, 4]
          const %r: i64[2] = [2, 2]
          %y = Tile(%x, %r)
          expect %y: i8[4,4] = [1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4])"},
      {"no repeat at all", R"(
          input %x: f32[2] = [1, 2]
          const %r: i64[1] = [0]
          %y = Tile(%x, %r)
          expect %y: f32[0] = [])"},
      {"another number of repeats is refused", R"(
          input %x: f32[2] = [1, 2]
          const %r: i64[2] = [1, 1]
          %y = Tile(%x, %r)
          error input 1 ('repeats') is [1,1], expected 1 values)"},
      {"a negative repeat is refused", R"(
          input %x: f32[2] = [1, 2]
          const %r: i64[1] = [-1]
          %y = Tile(%x, %r)
          error expected counts that are not negative and fit)"},
      {"a repeat that overflows is refused", R"(
          input %x: f32[2] = [1, 2]
          const %r: i64[1] = [9223372036854775807]
          %y = Tile(%x, %r)
          error not negative and fit)"},
  };
  return kCases;
}

}  // namespace rk::ops
