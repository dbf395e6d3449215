// SPDX-License-Identifier: Apache-2.0
// Cases of ScatterElements.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> scatter_elements_cases() {
  static constexpr OpCase kCases[] = {
      {"along both axes", R"(
          input %x: f32[2,3] = [0, 0, 0, 0, 0, 0]
          input %i: i64[1,2] = [1, -2]
          input %u: f32[1,2] = [7, 8]
          %y = ScatterElements(%x, %i, %u)
          %z = ScatterElements(%x, %i, %u) {axis=1}
          expect %y: f32[2,3] = [0, 8, 0, 7, 0, 0]
          expect %z: f32[2,3] = [0, 8, 0, 0, 0, 0])"},
      {"the reductions", R"(
          input %x: i32[2] = [3, 4]
          input %i: i64[2] = [1, 1]
          input %u: i32[2] = [5, -2]
          %a = ScatterElements(%x, %i, %u) {reduction="add"}
          %b = ScatterElements(%x, %i, %u) {reduction="mul"}
          %c = ScatterElements(%x, %i, %u) {reduction="max"}
          %d = ScatterElements(%x, %i, %u) {reduction="min"}
          expect %a: i32[2] = [3, 7]
          expect %b: i32[2] = [3, -40]
          expect %c: i32[2] = [3, 5]
          expect %d: i32[2] = [3, -2])"},
      {"an index outside is an error", R"(
          input %x: i8[2] = [3, 4]
          input %i: i64[1] = [2]
          input %u: i8[1] = [5]
          %a = ScatterElements(%x, %i, %u)
          error input 1 ('indices') holds 2, expected -2 to 1)"},
      {"updates of another shape are refused", R"(
          input %x: f32[2] = [3, 4]
          input %i: i64[1] = [1]
          %a = ScatterElements(%x, %i, %x)
          error input 2 ('updates') is f32[2], expected shape [1])"},
      {"indices larger than x are refused", R"(
          input %x: f32[2,1] = [3, 4]
          input %i: i64[1,2] = [1, 1]
          input %u: f32[1,2] = [1, 1]
          %a = ScatterElements(%x, %i, %u)
          error no extent above x's [2,1])"},
  };
  return kCases;
}

}  // namespace rk::ops
