// SPDX-License-Identifier: Apache-2.0
// Cases of merge_scalars.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %a: f32[] = [3]
          const %b: f32[1] = [4]
          input %x: f32[2,3])";

}  // namespace

std::span<const PassCase> merge_scalars_cases() {
  static constexpr PassCase kCases[] = {
      {"factors multiply, rank 0 or not", R"(
          %p = Mul(%x, %a)
          %q = Mul(%b, %p)
          %y = Div(%q, %a)
          output %y)",
       3, "Mul", kGiven},
      {"addends add up", R"(
          %p = Add(%x, %a)
          %q = Sub(%p, %b)
          %y = Add(%a, %q)
          output %y)",
       3, "Add", kGiven},
      {"a constant that makes the result larger stays", R"(
          const %a: f32[] = [3]
          const %b: f32[1] = [4]
          const %w: f32[1,1,1] = [2]
          input %x: f32[2,3]
          %p = Mul(%x, %a)
          %y = Mul(%p, %w)
          output %y)",
       0, "Mul Mul"},
      {"a scalar and a larger constant", R"(
          const %c: f32[1,3] = [1,2,5]
          %p = Mul(%x, %a)
          %q = Mul(%c, %p)
          %y = Mul(%q, %b)
          output %y)",
       2, "Mul", kGiven},
      {"a product that is an output stays", R"(
          %p = Mul(%x, %a)
          %y = Mul(%p, %b)
          output %y
          output %p)",
       0, "Mul Mul", kGiven},
      {"division by zero keeps its meaning", R"(
          const %z: f32[] = [0]
          input %x: f32[2,3]
          %p = Div(%x, %z)
          %y = Relu(%p)
          output %x
          output %y)",
       0, "Div Relu"},
      {"a constant divided by x stays", R"(
          %y = Div(%a, %x)
          output %y)",
       0, "Div", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
