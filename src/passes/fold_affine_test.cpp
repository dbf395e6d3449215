// SPDX-License-Identifier: Apache-2.0
// Cases of fold_affine.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,2,3,2]
          const %w: f32[3,2,1,1] = [1, -2, 3, 4, 0.5, 6]
          %c = Conv(%x, %w))";

}  // namespace

std::span<const PassCase> fold_affine_cases() {
  static constexpr PassCase kCases[] = {
      {"a rank-0 factor", R"(
          const %k: f32[] = [3]
          %y = Mul(%k, %c)
          output %y)",
       1, "Conv", kGiven},
      {"one addend per channel", R"(
          const %k: f32[3,1,1] = [1, 2, 3]
          %y = Add(%c, %k)
          output %y)",
       1, "Conv", kGiven},
      {"a constant that makes the result larger stays", R"(
          const %k: f32[2,1,1,1] = [1, 2]
          %y = Mul(%c, %k)
          output %y)",
       0, "Conv Mul", kGiven},
      {"a constant that adds an axis stays", R"(
          const %k: f32[1,1,1,1,1] = [2]
          %y = Add(%c, %k)
          output %y)",
       0, "Conv Add", kGiven},
      {"a convolution that is an output stays", R"(
          const %k: f32[] = [3]
          %y = Mul(%c, %k)
          output %y
          output %c)",
       0, "Conv Mul", kGiven},
      {"division by zero stays", R"(
          const %k: f32[] = [0]
          %y = Div(%c, %k)
          output %y)",
       0, "Conv Div", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
