// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_hard_swish.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %three: f32[] = [3]
          const %zero: f32[] = [0]
          const %six: f32[] = [6]
          const %sixth: f32[] = [0.16666667]
          const %half: f32[] = [0.5]
          const %one: f32[] = [1]
          input %x: f32[2,3])";

}  // namespace

std::span<const PassCase> fuse_hard_swish_cases() {
  static constexpr PassCase kCases[] = {
      {"x times HardSigmoid", R"(
          input %x: f32[2,3]
          %s = HardSigmoid(%x) {alpha=0.16666667, beta=0.5}
          %y = Mul(%x, %s)
          output %y)",
       1, "HardSwish"},
      {"x times Relu6 of x plus 3, divided by 6 at the end", R"(
          %a = Add(%x, %three)
          %c = Clip(%a, %zero, %six)
          %m = Mul(%x, %c)
          %y = Div(%m, %six)
          output %y)",
       1, "HardSwish", kGiven},
      {"the gate is divided first", R"(
          %a = Add(%three, %x)
          %c = Clip(%a, %zero, %six)
          %d = Div(%c, %six)
          %y = Mul(%d, %x)
          output %y)",
       1, "HardSwish", kGiven},
      {"times a sixth instead", R"(
          %a = Add(%x, %three)
          %c = Clip(%a, %zero, %six)
          %d = Mul(%c, %sixth)
          %y = Mul(%x, %d)
          output %y)",
       2, "HardSwish", kGiven},
      {"the gate alone is HardSigmoid", R"(
          %a = Add(%x, %three)
          %c = Clip(%a, %zero, %six)
          %y = Div(%c, %six)
          output %y)",
       1, "HardSigmoid", kGiven},
      {"clipped to 1 after the division", R"(
          %d = Div(%x, %six)
          %a = Add(%d, %half)
          %y = Clip(%a, %zero, %one)
          output %y)",
       1, "HardSigmoid", kGiven},
      {"other slopes stay", R"(
          input %x: f32[2,3]
          %s = HardSigmoid(%x) {alpha=0.2, beta=0.5}
          %y = Mul(%x, %s)
          output %y)",
       0, "HardSigmoid Mul"},
      {"a constant that makes the result larger stays", R"(
          const %wide: f32[1,1,1] = [6]
          %a = Add(%x, %three)
          %c = Clip(%a, %zero, %six)
          %m = Mul(%x, %c)
          %y = Div(%m, %wide)
          output %y)",
       0, "Add Clip Mul Div", kGiven},
      {"a gate that is an output stays", R"(
          %a = Add(%x, %three)
          %c = Clip(%a, %zero, %six)
          %m = Mul(%x, %c)
          %y = Div(%m, %six)
          output %y
          output %c)",
       0, "Add Clip Mul Div", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
