// SPDX-License-Identifier: Apache-2.0
// Cases of merge_parallel.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> merge_parallel_cases() {
  static constexpr PassCase kCases[] = {
      {"one Transpose behind the Concat", R"(
          input %a: f32[1,2,3,4]
          input %b: f32[1,2,3,4]
          %p = Transpose(%a) {perm=[0,2,3,1]}
          %q = Transpose(%b) {perm=[0,2,3,1]}
          %y = Concat(%p, %q) {axis=1}
          output %y)",
       1, "Concat Transpose"},
      {"one Relu", R"(
          input %a: f32[1,2]
          input %b: f32[1,3]
          %p = Relu(%a)
          %q = Relu(%b)
          %y = Concat(%p, %q) {axis=-1}
          output %y)",
       1, "Concat Relu"},
      {"different orders stay", R"(
          input %a: f32[1,2,3,3]
          input %b: f32[1,2,3,3]
          %p = Transpose(%a) {perm=[0,2,3,1]}
          %q = Transpose(%b) {perm=[0,3,2,1]}
          %y = Concat(%p, %q) {axis=1}
          output %y)",
       0, "Transpose Transpose Concat"},
      {"a branch that is an output stays", R"(
          input %a: f32[1,2]
          input %b: f32[1,3]
          %p = Relu(%a)
          %q = Relu(%b)
          %y = Concat(%p, %q) {axis=1}
          output %y
          output %q)",
       0, "Relu Relu Concat"},
      {"a Relu that fuses into its convolution stays", R"(
          input %x: f32[1,2,2,2]
          const %w: f32[1,2,1,1] = [1, -1]
          %c = Conv(%x, %w)
          %d = Conv(%x, %w)
          %p = Relu(%c)
          %q = Relu(%d)
          %y = Concat(%p, %q) {axis=1}
          output %y)",
       0, "Conv Conv Relu Relu Concat"},
  };
  return kCases;
}

}  // namespace rk::passes
