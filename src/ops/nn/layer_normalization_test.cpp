// SPDX-License-Identifier: Apache-2.0
// Cases of LayerNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> layer_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"the last axis, with its statistics", R"(
          input %x: f32[2,2] = [1, 3, 10, 10]
          const %s: f32[2] = [2, 1]
          const %b: f32[2] = [1, 5]
          %y, %m, %i = LayerNormalization(%x, %s, %b) {epsilon=3}
          expect %y: f32[2,2] = [0, 5.5, 1, 5]
          expect %m: f32[2,1] = [2, 10]
          expect %i: f32[2,1] = [0.5, 0.577350269])"},
      {"two axes, no bias", R"(
          input %x: f32[1,2,2] = [0, 0, 4, 4]
          const %s: f32[2,2] = [1, 1, 1, 2]
          %y = LayerNormalization(%x, %s) {axis=1, epsilon=0}
          expect %y: f32[1,2,2] = [-1, -1, 1, 2])"},
      {"a scale that does not broadcast is refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %s: f32[3] = [1, 1, 1]
          %y = LayerNormalization(%x, %s)
          error do not broadcast)"},
      {"a scale larger than x is refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %s: f32[2,2] = [1, 1, 1, 1]
          %y = LayerNormalization(%x, %s)
          error input 1 ('scale') is [2,2], expected a shape that broadcasts to [1,2])"},
      {"another stash_type is refused", R"(
          input %x: f32[1] = [1]
          %y = LayerNormalization(%x, %x) {stash_type=10}
          error attribute 'stash_type' is 10)"},
  };
  return kCases;
}

}  // namespace rk::ops
