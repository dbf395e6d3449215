// SPDX-License-Identifier: Apache-2.0
// Cases of pool_to_conv.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> pool_to_conv_cases() {
  static constexpr PassCase kCases[] = {
      {"a small feature", R"(
          input %x: f32[2,3,4,5]
          %y = GlobalAveragePool(%x)
          output %y)",
       1, "Conv"},
      {"seven by seven, the largest", R"(
          input %x: f32[1,17,7,7]
          %y = GlobalAveragePool(%x)
          output %y)",
       1, "Conv"},
      {"eight rows are two windows", R"(
          input %x: f32[1,3,8,2]
          %y = GlobalAveragePool(%x)
          output %y)",
       1, "Conv Conv"},
      {"odd borders, sixty columns", R"(
          input %x: f32[2,3,9,60]
          %y = GlobalAveragePool(%x)
          output %y)",
       1, "Conv Conv Conv"},
      {"one pixel stays", R"(
          input %x: f32[1,3,1,1]
          %y = GlobalAveragePool(%x)
          output %y)",
       0, "GlobalAveragePool"},
      {"three axes stay", R"(
          input %x: f32[1,3,5]
          %y = GlobalAveragePool(%x)
          output %y)",
       0, "GlobalAveragePool"},
  };
  return kCases;
}

}  // namespace rk::passes
