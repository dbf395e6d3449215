// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_swish.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> fuse_swish_cases() {
  static constexpr PassCase kCases[] = {
      {"x times its sigmoid is SiLU", R"(
          input %x: f32[2,3]
          %s = Sigmoid(%x)
          %y = Mul(%s, %x)
          output %y)",
       1, "exSwish"},
      {"a rank-0 factor inside the sigmoid is beta", R"(
          input %x: f32[2,3]
          const %b: f32[] = [1.702]
          %t = Mul(%b, %x)
          %s = Sigmoid(%t)
          %y = Mul(%x, %s)
          output %y)",
       1, "exSwish"},
      {"the sigmoid of another value gates, it is no Swish", R"(
          input %x: f32[2,3]
          input %z: f32[2,3]
          %s = Sigmoid(%z)
          %y = Mul(%x, %s)
          output %y)",
       0, "Sigmoid Mul"},
      {"a factor that makes the result larger stays", R"(
          input %x: f32[2,3]
          const %b: f32[1,1,1] = [2]
          %t = Mul(%x, %b)
          %s = Sigmoid(%t)
          %y = Mul(%x, %s)
          output %y)",
       0, "Mul Sigmoid Mul"},
      {"a sigmoid that is an output stays", R"(
          input %x: f32[2,3]
          %s = Sigmoid(%x)
          %y = Mul(%x, %s)
          output %y
          output %s)",
       0, "Sigmoid Mul"},
      {"a scaled argument that others read stays", R"(
          input %x: f32[2,3]
          const %b: f32[] = [2]
          %t = Mul(%x, %b)
          %s = Sigmoid(%t)
          %y = Mul(%x, %s)
          output %y
          output %t)",
       0, "Mul Sigmoid Mul"},
  };
  return kCases;
}

}  // namespace rk::passes
