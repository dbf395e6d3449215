// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_gelu.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %root: f32[] = [1.4142135]
          const %one: f32[] = [1]
          const %half: f32[] = [0.5]
          input %x: f32[2,3])";

}  // namespace

std::span<const PassCase> fuse_gelu_cases() {
  static constexpr PassCase kCases[] = {
      {"the erf form with x first", R"(
          %d = Div(%x, %root)
          %e = Erf(%d)
          %f = Add(%e, %one)
          %h = Mul(%x, %f)
          %y = Mul(%h, %half)
          output %y)",
       1, "exGelu", kGiven},
      {"the erf form with the half first", R"(
          %d = Div(%x, %root)
          %e = Erf(%d)
          %f = Add(%one, %e)
          %h = Mul(%half, %x)
          %y = Mul(%f, %h)
          output %y)",
       1, "exGelu", kGiven},
      {"the tanh form with a power", R"(
          const %a: f32[] = [0.044715]
          const %b: f32[] = [0.7978845608]
          const %one: f32[] = [1]
          const %half: f32[] = [0.5]
          const %three: f32[] = [3]
          input %x: f32[2,3]
          %p = Pow(%x, %three)
          %c = Mul(%p, %a)
          %s = Add(%x, %c)
          %m = Mul(%s, %b)
          %t = Tanh(%m)
          %f = Add(%t, %one)
          %h = Mul(%x, %half)
          %y = Mul(%h, %f)
          output %y)",
       1, "exGelu"},
      {"the tanh form with x taken out", R"(
          const %a: f32[] = [0.044715]
          const %b: f32[] = [0.7978845608]
          const %one: f32[] = [1]
          const %half: f32[] = [0.5]
          const %three: f32[] = [3]
          input %x: f32[2,3]
          %p = Mul(%x, %x)
          %c = Mul(%p, %a)
          %s = Add(%one, %c)
          %q = Mul(%x, %s)
          %m = Mul(%q, %b)
          %t = Tanh(%m)
          %f = Add(%one, %t)
          %g = Mul(%f, %half)
          %y = Mul(%x, %g)
          output %y)",
       1, "exGelu"},
      {"a constant that makes the result larger stays", R"(
          const %wide: f32[1,1,1] = [0.5]
          %d = Div(%x, %root)
          %e = Erf(%d)
          %f = Add(%e, %one)
          %h = Mul(%x, %f)
          %y = Mul(%h, %wide)
          output %y)",
       0, "Div Erf Add Mul Mul", kGiven},
      {"an erf that is an output stays", R"(
          %d = Div(%x, %root)
          %e = Erf(%d)
          %f = Add(%e, %one)
          %h = Mul(%x, %f)
          %y = Mul(%h, %half)
          output %y
          output %e)",
       0, "Div Erf Add Mul Mul", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
