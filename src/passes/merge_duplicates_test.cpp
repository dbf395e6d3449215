// SPDX-License-Identifier: Apache-2.0
// Cases of merge_duplicates.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> merge_duplicates_cases() {
  static constexpr PassCase kCases[] = {
      {"branches that start alike", R"(
          input %x: f32[2,3]
          %a = Relu(%x)
          %b = Relu(%x)
          %c = Sigmoid(%a)
          %d = Tanh(%b)
          %y = Add(%c, %d)
          output %y)",
       1, "Relu Sigmoid Tanh Add"},
      {"equal constants count as one", R"(
          input %x: f32[2,3]
          const %p: f32[] = [2]
          const %q: f32[] = [2]
          %a = Mul(%x, %p)
          %b = Mul(%x, %q)
          %y = Sub(%a, %b)
          output %y)",
       1, "Mul Sub"},
      {"other attributes stay", R"(
          input %x: f32[2,3]
          %a = LeakyRelu(%x) {alpha=0.1}
          %b = LeakyRelu(%x) {alpha=0.2}
          %y = Add(%a, %b)
          output %y)",
       0, "LeakyRelu LeakyRelu Add"},
      {"two outputs keep their names", R"(
          input %x: f32[2,3]
          %a = Relu(%x)
          %b = Relu(%x)
          output %a
          output %b)",
       0, "Relu Relu"},
  };
  return kCases;
}

}  // namespace rk::passes
