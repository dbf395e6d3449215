// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_activation.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,2,3,2]
          const %w: f32[3,2,1,1] = [1, -2, 3, 4, 0.5, 6]
          %c = Conv(%x, %w))";

}  // namespace

std::span<const PassCase> fuse_activation_cases() {
  static constexpr PassCase kCases[] = {
      {"a rank-0 bound", R"(
          const %low: f32[] = [0]
          const %high: f32[] = [6]
          %y = Clip(%c, %low, %high)
          output %y)",
       1, "FusedConv", kGiven},
      {"a Relu", R"(
          %y = Relu(%c)
          output %y)",
       1, "FusedConv", kGiven},
      {"a convolution that is an output stays", R"(
          %y = Relu(%c)
          output %y
          output %c)",
       0, "Conv Relu", kGiven},
      {"a convolution that others read stays", R"(
          %y = Relu(%c)
          %z = Sigmoid(%c)
          output %y
          output %z)",
       0, "Conv Relu Sigmoid", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
