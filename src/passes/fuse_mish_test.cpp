// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_mish.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> fuse_mish_cases() {
  static constexpr PassCase kCases[] = {
      {"x times the tanh of its softplus is Mish", R"(
          input %x: f32[2,3]
          %s = Softplus(%x)
          %t = Tanh(%s)
          %y = Mul(%x, %t)
          output %y)",
       1, "exMish"},
      {"the factors in the other order", R"(
          input %x: f32[2,3]
          %s = Softplus(%x)
          %t = Tanh(%s)
          %y = Mul(%t, %x)
          output %y)",
       1, "exMish"},
      {"a gate of another value is no Mish", R"(
          input %x: f32[2,3]
          input %z: f32[2,3]
          %s = Softplus(%z)
          %t = Tanh(%s)
          %y = Mul(%x, %t)
          output %y)",
       0, "Softplus Tanh Mul"},
      {"a gate that is an output stays", R"(
          input %x: f32[2,3]
          %s = Softplus(%x)
          %t = Tanh(%s)
          %y = Mul(%x, %t)
          output %y
          output %t)",
       0, "Softplus Tanh Mul"},
      {"a result that is larger than x stays", R"(
          input %x: f32[1,3]
          input %z: f32[2,3]
          %s = Softplus(%x)
          %t = Tanh(%s)
          %y = Mul(%z, %t)
          output %y)",
       0, "Softplus Tanh Mul"},
  };
  return kCases;
}

}  // namespace rk::passes
