// SPDX-License-Identifier: Apache-2.0
// Cases of move_elementwise.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,2,3,4]
          const %w: f32[3,2,1,1] = [1, -1, 2, 0.5, 3, -2]
          %c = Conv(%x, %w))";

}  // namespace

std::span<const PassCase> move_elementwise_cases() {
  static constexpr PassCase kCases[] = {
      {"an activation behind a Transpose", R"(
          %t = Transpose(%c) {perm=[0,2,3,1]}
          %y = Relu(%t)
          output %y)",
       1, "Conv Relu Transpose", kGiven},
      {"a bias row and an activation, one after the other", R"(
          const %b: f32[3] = [1, 2, 3]
          %t = Transpose(%c) {perm=[0,2,3,1]}
          %a = Add(%t, %b)
          %y = Sigmoid(%a)
          output %y)",
       2, "Conv Add Sigmoid Transpose", kGiven},
      {"an activation behind both", R"(
          const %s: i64[3] = [1, 12, 3]
          %t = Transpose(%c) {perm=[0,2,3,1]}
          %r = Reshape(%t, %s)
          %y = Sigmoid(%r)
          output %y)",
       2, "Conv Sigmoid Transpose Reshape", kGiven},
      {"a rank-0 constant behind a Reshape", R"(
          const %b: f32[] = [3]
          const %s: i64[2] = [3, 12]
          %t = Reshape(%c, %s)
          %y = Sub(%b, %t)
          output %y)",
       1, "Conv Sub Reshape", kGiven},
      {"one constant per channel behind a Reshape that drops an axis", R"(
          input %x: f32[1,2,1,4]
          const %w: f32[3,2,1,1] = [1, -1, 2, 0.5, 3, -2]
          const %b: f32[3,1] = [1, 2, 3]
          const %s: i64[3] = [1, 3, 4]
          %c = Conv(%x, %w)
          %t = Reshape(%c, %s)
          %y = Mul(%t, %b)
          output %y)",
       1, "Conv Mul Reshape"},
      {"a constant over pixels that a Reshape mixes stays", R"(
          const %b: f32[12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
          const %s: i64[3] = [1, 3, 12]
          %t = Reshape(%c, %s)
          %y = Add(%t, %b)
          output %y)",
       0, "Conv Reshape Add", kGiven},
      {"a constant that makes the result larger stays", R"(
          const %b: f32[2,1,1,1,1] = [1, 2]
          %t = Transpose(%c) {perm=[0,2,3,1]}
          %y = Add(%t, %b)
          output %y)",
       0, "Conv Transpose Add", kGiven},
      {"a moved value that is an output stays", R"(
          %t = Transpose(%c) {perm=[0,2,3,1]}
          %y = Relu(%t)
          output %y
          output %t)",
       0, "Conv Transpose Relu", kGiven},
      {"without a convolution nothing is gained", R"(
          input %x: f32[1,2,3,4]
          %t = Transpose(%x) {perm=[0,2,3,1]}
          %y = Relu(%t)
          output %y)",
       0, "Transpose Relu"},
  };
  return kCases;
}

}  // namespace rk::passes
