// SPDX-License-Identifier: Apache-2.0
// Cases of ScatterND.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> scatter_nd_cases() {
  static constexpr OpCase kCases[] = {
      {"elements are replaced, the last one wins", R"(
          input %x: f32[4] = [1, 2, 3, 4]
          input %i: i64[3,1] = [1, -1, 1]
          input %u: f32[3] = [10, 20, 30]
          %y = ScatterND(%x, %i, %u)
          expect %y: f32[4] = [1, 30, 3, 20])"},
      {"rows, and the reductions", R"(
          input %x: i32[2,2] = [1, 2, 3, 4]
          input %i: i64[1,1] = [1]
          input %u: i32[1,2] = [5, -5]
          %a = ScatterND(%x, %i, %u) {reduction="add"}
          %b = ScatterND(%x, %i, %u) {reduction="mul"}
          %c = ScatterND(%x, %i, %u) {reduction="max"}
          %d = ScatterND(%x, %i, %u) {reduction="min"}
          expect %a: i32[2,2] = [1, 2, 8, -1]
          expect %b: i32[2,2] = [1, 2, 15, -20]
          expect %c: i32[2,2] = [1, 2, 5, 4]
          expect %d: i32[2,2] = [1, 2, 3, -5])"},
      {"half floats are added in f32", R"(
          input %x: f16[1] = [1]
          input %i: i64[1,1] = [0]
          input %u: f16[1] = [0.5]
          %y = ScatterND(%x, %i, %u) {reduction="add"}
          expect %y: f16[1] = [1.5])"},
      {"an index outside is an error", R"(
          input %x: i8[1] = [1]
          input %i: i64[1,1] = [1]
          %y = ScatterND(%x, %i, %x)
          error input 1 ('indices') holds 1 for axis 0, expected -1 to 0)"},
      {"updates of another shape are refused", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1,1] = [0]
          %y = ScatterND(%x, %i, %x)
          error input 2 ('updates') is f32[2], expected shape [1])"},
      {"an unknown reduction is refused", R"(
          input %x: f32[1] = [1]
          input %i: i64[1,1] = [0]
          %y = ScatterND(%x, %i, %x) {reduction="sub"}
          error attribute 'reduction' is 'sub')"},
  };
  return kCases;
}

}  // namespace rk::ops
