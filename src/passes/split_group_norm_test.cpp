// SPDX-License-Identifier: Apache-2.0
// Cases of split_group_norm.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> split_group_norm_cases() {
  static constexpr PassCase kCases[] = {
      {"two groups of two channels", R"(
          input %x: f32[2,4,3,2]
          const %g: f32[4] = [1, 2, 3, 4]
          const %b: f32[4] = [4, -3, 2, 1]
          %y = GroupNormalization(%x, %g, %b) {num_groups=2}
          output %y)",
       1, "Reshape InstanceNormalization Reshape Mul Add"},
      {"parameters computed at run time stay", R"(
          input %x: f32[1,4,3]
          input %g: f32[4]
          const %b: f32[4] = [4, -3, 2, 1]
          %y = GroupNormalization(%x, %g, %b) {num_groups=4}
          output %y)",
       0, "GroupNormalization"},
  };
  return kCases;
}

}  // namespace rk::passes
