// SPDX-License-Identifier: Apache-2.0
// Cases of shuffle_to_gather.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,6,2,3]
          const %g: i64[5] = [1, 2, 3, 2, 3]
          const %o: i64[4] = [1, 6, 2, 3]
          %a = Reshape(%x, %g)
          %b = Transpose(%a) {perm=[0,2,1,3,4]}
          %y = Reshape(%b, %o))";

}  // namespace

std::span<const PassCase> shuffle_to_gather_cases() {
  static constexpr PassCase kCases[] = {
      {"two groups of three channels", R"(
          output %y)",
       1, "Gather", kGiven},
      {"axes counted from the end", R"(
          input %x: f32[1,6,2,3]
          const %g: i64[5] = [1, 2, 3, 2, 3]
          const %o: i64[4] = [1, 6, 2, 3]
          %a = Reshape(%x, %g)
          %b = Transpose(%a) {perm=[-5,-3,-4,-2,-1]}
          %y = Reshape(%b, %o)
          output %y)",
       1, "Gather"},
      {"pixels flattened on the way", R"(
          input %x: f32[2,6,2,3]
          const %g: i64[4] = [2, 3, 2, 6]
          const %o: i64[4] = [2, 6, 2, 3]
          %a = Reshape(%x, %g)
          %b = Transpose(%a) {perm=[0,2,1,3]}
          %y = Reshape(%b, %o)
          output %y)",
       1, "Gather"},
      {"a Transpose that moves pixels stays", R"(
          input %x: f32[1,6,2,2]
          const %g: i64[5] = [1, 2, 3, 2, 2]
          const %o: i64[4] = [1, 6, 2, 2]
          %a = Reshape(%x, %g)
          %b = Transpose(%a) {perm=[0,2,1,4,3]}
          %y = Reshape(%b, %o)
          output %y)",
       0, "Reshape Transpose Reshape"},
      {"another final shape stays", R"(
          input %x: f32[1,6,2,3]
          const %g: i64[5] = [1, 2, 3, 2, 3]
          const %o: i64[3] = [1, 6, 6]
          %a = Reshape(%x, %g)
          %b = Transpose(%a) {perm=[0,2,1,3,4]}
          %y = Reshape(%b, %o)
          output %y)",
       0, "Reshape Transpose Reshape"},
      {"groups that are an output stay", R"(
          output %y
          output %b)",
       0, "Reshape Transpose Reshape", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
