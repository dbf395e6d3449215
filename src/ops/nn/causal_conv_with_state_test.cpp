// SPDX-License-Identifier: Apache-2.0
// Cases of CausalConvWithState.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> causal_conv_with_state_cases() {
  static constexpr OpCase kCases[] = {
      {"the first output sees zeros in front; the state is the end", R"(
          input %x: f32[1,1,3] = [1, 2, 3]
          input %w: f32[1,1,3] = [100, 10, 1]
          %y, %s = CausalConvWithState(%x, %w)
          expect %y: f32[1,1,3] = [1, 12, 123]
          expect %s: f32[1,1,2] = [2, 3])"},
      {"a past state, a bias, a kernel per channel", R"(
          input %x: f32[1,2,1] = [1, 2]
          input %w: f32[2,1,2] = [10, 1, 100, 1]
          input %b: f32[2] = [0.5, -0.5]
          input %p: f32[1,2,1] = [3, 4]
          %y, %s = CausalConvWithState(%x, %w, %b, %p)
          expect %y: f32[1,2,1] = [31.5, 401.5]
          expect %s: f32[1,2,1] = [1, 2])"},
      {"an input shorter than the state keeps some of it", R"(
          input %x: f32[1,1,1] = [9]
          input %w: f32[1,1,3] = [0, 0, 1]
          input %p: f32[1,1,2] = [7, 8]
          %y, %s = CausalConvWithState(%x, %w, _, %p)
          expect %y: f32[1,1,1] = [9]
          expect %s: f32[1,1,2] = [8, 9])"},
      // ln 3 * sigmoid(ln 3) = 3/4 ln 3.
      {"silu", R"(
          input %x: f32[1,1,1] = [1.09861229]
          input %w: f32[1,1,1] = [1]
          %y = CausalConvWithState(%x, %w) {activation="silu"}
          expect %y: f32[1,1,1] = [0.823959217])"},
      {"weights for other channels are refused", R"(
          input %x: f32[1,2,1] = [1, 2]
          input %w: f32[1,1,1] = [1]
          %y = CausalConvWithState(%x, %w)
          error input 1 ('w') is f32[1,1,1], expected shape [2,1,1])"},
      {"another activation is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = CausalConvWithState(%x, %x) {activation="relu"}
          error attribute 'activation' is 'relu')"},
  };
  return kCases;
}

}  // namespace rk::ops
