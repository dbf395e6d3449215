// SPDX-License-Identifier: Apache-2.0
// Cases of reduce_to_pool.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> reduce_to_pool_cases() {
  static constexpr PassCase kCases[] = {
      {"a mean over height and width", R"(
          input %x: f32[2,3,4,5]
          const %a: i64[2] = [-1, 2]
          %y = ReduceMean(%x, %a)
          output %y)",
       1, "GlobalAveragePool"},
      {"the same without its axes", R"(
          input %x: f32[2,3,4,5]
          const %a: i64[2] = [2, 3]
          %y = ReduceMean(%x, %a) {keepdims=0}
          output %y)",
       1, "GlobalAveragePool Reshape"},
      {"a maximum", R"(
          input %x: f32[2,3,4,5]
          const %a: i64[2] = [2, 3]
          %y = ReduceMax(%x, %a)
          output %y)",
       1, "GlobalMaxPool"},
      {"a window of the whole picture", R"(
          input %x: f32[1,3,4,5]
          %y = AveragePool(%x) {kernel_shape=[4,5]}
          output %y)",
       1, "GlobalAveragePool"},
      {"a padded window stays", R"(
          input %x: f32[1,3,4,5]
          %y = AveragePool(%x) {kernel_shape=[4,5], pads=[1,0,0,0], strides=[2,1]}
          output %y)",
       0, "AveragePool"},
      {"a mean over channels too stays", R"(
          input %x: f32[2,3,4,5]
          const %a: i64[3] = [1, 2, 3]
          %y = ReduceMean(%x, %a)
          output %y)",
       0, "ReduceMean"},
      {"three axes stay", R"(
          input %x: f32[2,3,4]
          const %a: i64[1] = [2]
          %y = ReduceMean(%x, %a)
          output %y)",
       0, "ReduceMean"},
  };
  return kCases;
}

}  // namespace rk::passes
