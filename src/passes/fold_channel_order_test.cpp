// SPDX-License-Identifier: Apache-2.0
// Cases of fold_channel_order.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,3,2,2]
          const %w: f32[4,3,1,1] = [1,2,3,4,5,6,7,8,9,10,11,13]
          const %b: f32[4] = [1,-2,3,5]
          const %v: f32[2,4,1,1] = [1,2,3,4,5,6,7,9]
          const %o: i64[4] = [2,0,-1,1]
          const %some: i64[2] = [2,0])";

}  // namespace

std::span<const PassCase> fold_channel_order_cases() {
  static constexpr PassCase kCases[] = {
      {"into the convolution before it", R"(
          %c = Conv(%x, %w, %b)
          %y = Gather(%c, %o) {axis=1}
          output %y)",
       1, "Conv", kGiven},
      {"into the one behind it, where the one before has other readers", R"(
          %c = Conv(%x, %w, %b)
          %g = Gather(%c, %o) {axis=-3}
          %y = Conv(%g, %v)
          output %y
          output %c)",
       1, "Conv Conv", kGiven},
      {"channels that are left out stay a Gather", R"(
          %c = Conv(%x, %w, %b)
          %y = Gather(%c, %some) {axis=1}
          output %y)",
       0, "Conv Gather", kGiven},
      {"groups keep their channels", R"(
          const %d: f32[4,1,1,1] = [1,2,3,4]
          %c = Conv(%x, %w, %b)
          %g = Conv(%c, %d) {group=4}
          %y = Gather(%g, %o) {axis=1}
          output %y)",
       0, "Conv Conv Gather", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
