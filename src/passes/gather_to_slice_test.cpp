// SPDX-License-Identifier: Apache-2.0
// Cases of gather_to_slice.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> gather_to_slice_cases() {
  static constexpr PassCase kCases[] = {
      {"a rank-0 index drops its axis", R"(
          input %x: f32[2,3,4]
          const %i: i64[] = [-1]
          %y = Gather(%x, %i) {axis=1}
          output %y)",
       1, "Slice Reshape"},
      {"indices that follow each other", R"(
          input %x: f32[2,5]
          const %i: i64[3] = [1, 2, 3]
          %y = Gather(%x, %i) {axis=-1}
          output %y)",
       1, "Slice"},
      {"indices out of order stay", R"(
          input %x: f32[2,5]
          const %i: i64[2] = [2, 1]
          %y = Gather(%x, %i) {axis=1}
          output %y)",
       0, "Gather"},
      {"indices of rank 2 stay", R"(
          input %x: f32[2,5]
          const %i: i64[1,2] = [1, 2]
          %y = Gather(%x, %i) {axis=1}
          output %y)",
       0, "Gather"},
      {"indices computed at run time stay", R"(
          input %x: f32[4,2]
          input %i: i64[1]
          %y = Gather(%x, %i)
          output %y)",
       0, "Gather"},
  };
  return kCases;
}

}  // namespace rk::passes
