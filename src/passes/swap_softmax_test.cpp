// SPDX-License-Identifier: Apache-2.0
// Cases of swap_softmax.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,5,3,2]
          %t = Transpose(%x) {perm=[0,2,3,1]})";

}  // namespace

std::span<const PassCase> swap_softmax_cases() {
  static constexpr PassCase kCases[] = {
      {"channels to the end and back", R"(
          %s = Softmax(%t)
          %y = Transpose(%s) {perm=[0,3,1,2]}
          output %y)",
       1, "Softmax", kGiven},
      {"along another axis", R"(
          %s = Softmax(%t) {axis=1}
          %y = Transpose(%s) {perm=[0,3,1,2]}
          output %y)",
       1, "Softmax", kGiven},
      {"Transposes that do not undo each other", R"(
          %s = Softmax(%t)
          %y = Transpose(%s) {perm=[0,2,3,1]}
          output %y)",
       0, "Transpose Softmax Transpose", kGiven},
      {"the shares are read in the other order, too", R"(
          %s = Softmax(%t)
          %y = Transpose(%s) {perm=[0,3,1,2]}
          output %y
          output %s)",
       0, "Transpose Softmax Transpose", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
