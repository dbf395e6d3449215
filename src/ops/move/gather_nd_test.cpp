// SPDX-License-Identifier: Apache-2.0
// Cases of GatherND.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> gather_nd_cases() {
  static constexpr OpCase kCases[] = {
      {"tuples address elements and rows", R"(
          input %x: f32[2,2] = [1, 2, 3, 4]
          input %i: i64[2,2] = [0, -1, 1, 0]
          input %r: i64[1,1] = [1]
          %y = GatherND(%x, %i)
          %z = GatherND(%x, %r)
          expect %y: f32[2] = [2, 3]
          expect %z: f32[1,2] = [3, 4])"},
      {"batch axes are shared", R"(
          input %x: i8[2,2,2] = [1, 2, 3, 4, 5, 6, 7, 8]
          input %i: i64[2,1] = [1, 0]
          %y = GatherND(%x, %i) {batch_dims=1}
          expect %y: i8[2,2] = [3, 4, 5, 6])"},
      {"an index outside is an error", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1,1] = [2]
          %y = GatherND(%x, %i)
          error input 1 ('indices') holds 2 for axis 0, expected -2 to 1)"},
      {"tuples longer than the rank are refused", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1,2] = [0, 0]
          %y = GatherND(%x, %i)
          error expected 1 to 1 as last extent)"},
      {"batch extents that differ are refused", R"(
          input %x: f32[2,1] = [1, 2]
          input %i: i64[1,1] = [0]
          %y = GatherND(%x, %i) {batch_dims=1}
          error differ on batch axis 0)"},
      {"too many batch axes are refused", R"(
          input %x: f32[2] = [1, 2]
          input %i: i64[1,1] = [0]
          %y = GatherND(%x, %i) {batch_dims=1}
          error attribute 'batch_dims' is 1, expected 0 to 0)"},
  };
  return kCases;
}

}  // namespace rk::ops
