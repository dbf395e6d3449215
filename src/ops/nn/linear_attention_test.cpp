// SPDX-License-Identifier: Apache-2.0
// Cases of LinearAttention, with states of one or two cells so that they can be followed by hand.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> linear_attention_cases() {
  static constexpr OpCase kCases[] = {
      {"linear: keys times values add up over the steps", R"(
          input %q: f32[1,2,1] = [1, 10]
          input %k: f32[1,2,1] = [2, 3]
          input %v: f32[1,2,1] = [5, 7]
          %y, %s = LinearAttention(%q, %k, %v) {q_num_heads=1, kv_num_heads=1,
              update_rule="linear"}
          expect %y: f32[1,2,1] = [10, 310]
          expect %s: f32[1,1,1,1] = [31])"},
      // exp(-0.693147181) = 1/2: 8 * 1/2 + 2 * 3 = 10.
      {"gated: the past state halves first; two query heads read one state", R"(
          input %q: f32[1,1,2] = [1, 2]
          input %k: f32[1,1,1] = [2]
          input %v: f32[1,1,1] = [3]
          input %p: f32[1,1,1,1] = [8]
          input %d: f32[1,1,1] = [-0.693147181]
          %y = LinearAttention(%q, %k, %v, %p, %d) {q_num_heads=2, kv_num_heads=1,
              update_rule="gated", scale=0.5}
          expect %y: f32[1,1,2] = [5, 10])"},
      // The state holds 8 for key 1; beta 1/2 moves it half way towards 4.
      {"delta: the state moves towards the value", R"(
          input %q: f32[1,1,1] = [1]
          input %k: f32[1,1,1] = [1]
          input %v: f32[1,1,1] = [4]
          input %p: f32[1,1,1,1] = [8]
          input %b: f32[1,1,1] = [0.5]
          %y, %s = LinearAttention(%q, %k, %v, %p, _, %b) {q_num_heads=1, kv_num_heads=1,
              update_rule="delta"}
          expect %y: f32[1,1,1] = [6]
          expect %s: f32[1,1,1,1] = [6])"},
      {"gated delta without a beta is refused", R"(
          input %q: f32[1,1,1] = [1]
          %y = LinearAttention(%q, %q, %q, _, %q) {q_num_heads=1, kv_num_heads=1}
          error update_rule 'gated_delta' takes a decay and a beta; found a decay and no beta)"},
      {"a state of another dtype is refused", R"(
          input %q: f32[1,1,1] = [1]
          input %p: i8[1,1,1,1] = [8]
          %y = LinearAttention(%q, %q, %q, %p) {q_num_heads=1, kv_num_heads=1, update_rule="linear"}
          error input 3 ('past_state') is i8[1,1,1,1], expected a float dtype)"},
      {"a decay of another dtype is refused", R"(
          input %q: f32[1,1,1] = [1]
          input %d: bool[1,1,1] = [1]
          %y = LinearAttention(%q, %q, %q, _, %d) {q_num_heads=1, kv_num_heads=1, update_rule="gated"}
          error input 4 ('decay') is bool[1,1,1], expected a float dtype)"},
      {"a beta of another float dtype is refused", R"(
          input %q: f32[1,1,1] = [1]
          input %b: f16[1,1,1] = [1]
          %y = LinearAttention(%q, %q, %q, _, _, %b) {q_num_heads=1, kv_num_heads=1, update_rule="delta"}
          error inputs 0 ('q') and 5 ('beta') have dtypes f32 and f16; they must be the same)"},
      {"heads that do not divide are refused", R"(
          input %q: f32[1,1,3] = [1, 2, 3]
          %y = LinearAttention(%q, %q, %q) {q_num_heads=2, kv_num_heads=1, update_rule="linear"}
          error attributes 'q_num_heads' 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
