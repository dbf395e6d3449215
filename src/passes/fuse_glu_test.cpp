// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_glu.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,4,3]
          const %h: i64[2] = [2, 2]
          %a, %b = Split(%x, %h) {axis=1})";

}  // namespace

std::span<const PassCase> fuse_glu_cases() {
  static constexpr PassCase kCases[] = {
      {"halves of the channels", R"(
          %s = Sigmoid(%b)
          %y = Mul(%a, %s)
          output %y)",
       1, "exGlu", kGiven},
      {"the first half as the gate stays", R"(
          %s = Sigmoid(%a)
          %y = Mul(%b, %s)
          output %y)",
       0, "Split Sigmoid Mul", kGiven},
      {"unequal halves that broadcast stay", R"(
          input %x: f32[1,4,3]
          const %h: i64[2] = [3, 1]
          %a, %b = Split(%x, %h) {axis=1}
          %s = Sigmoid(%b)
          %y = Mul(%a, %s)
          output %y)",
       0, "Split Sigmoid Mul"},
      {"a half that is an output stays", R"(
          %s = Sigmoid(%b)
          %y = Mul(%s, %a)
          output %y
          output %b)",
       0, "Split Sigmoid Mul", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
