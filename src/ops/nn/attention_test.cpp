// SPDX-License-Identifier: Apache-2.0
// Cases of Attention. With one-hot keys and scores of ln n the probabilities are simple fractions.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> attention_cases() {
  static constexpr OpCase kCases[] = {
      // Scores (ln 3, 0): probabilities 3/4 and 1/4.
      {"one head, two keys", R"(
          input %q: f32[1,1,1,2] = [1.09861229, 0]
          input %k: f32[1,1,2,2] = [1, 0, 0, 1]
          input %v: f32[1,1,2,3] = [4, 8, 0, 0, 8, 4]
          %y = Attention(%q, %k, %v) {scale=1.0}
          expect %y: f32[1,1,1,3] = [3, 8, 1])"},
      {"without a scale the root of the head size divides; the mask is added", R"(
          input %q: f32[1,1,1,4] = [2.19722458, 0, 0, 0]
          input %k: f32[1,1,2,4] = [1, 0, 0, 0, 0, 1, 0, 0]
          input %v: f32[1,1,2,1] = [4, 8]
          input %m: f32[1,2] = [0, 1.09861229]
          %y, %pk, %pv, %s = Attention(%q, %k, %v, %m) {qk_matmul_output_mode=2}
          expect %y: f32[1,1,1,1] = [6]
          expect %s: f32[1,1,1,2] = [1.09861229, 1.09861229])"},
      {"packed heads: two query heads share a key head", R"(
          input %q: f32[1,1,2] = [1.09861229, 0]
          input %k: f32[1,2,1] = [1, 0]
          input %v: f32[1,2,1] = [4, 8]
          %y = Attention(%q, %k, %v) {q_num_heads=2, kv_num_heads=1, scale=1.0}
          expect %y: f32[1,1,2] = [5, 6])"},
      {"causal rows see the cache and themselves", R"(
          input %q: f32[1,1,2,1] = [0, 0]
          input %k: f32[1,1,2,1] = [5, 6]
          input %v: f32[1,1,2,1] = [6, 9]
          input %pk: f32[1,1,1,1] = [7]
          input %pv: f32[1,1,1,1] = [3]
          %y, %k2, %v2 = Attention(%q, %k, %v, _, %pk, %pv) {is_causal=1}
          expect %y: f32[1,1,2,1] = [4.5, 6]
          expect %k2: f32[1,1,3,1] = [7, 5, 6]
          expect %v2: f32[1,1,3,1] = [3, 6, 9])"},
      {"valid lengths per batch; a row that sees nothing is zero", R"(
          input %q: f32[2,1,1,1] = [0, 0]
          input %k: f32[2,1,2,1] = [1, 1, 1, 1]
          input %v: f32[2,1,2,1] = [3, 5, 7, 9]
          input %n: i64[2] = [1, 0]
          %y = Attention(%q, %k, %v, _, _, _, %n)
          expect %y: f32[2,1,1,1] = [3, 0])"},
      {"a short bool mask hides the rest; the scores are capped before", R"(
          input %q: f16[1,1,1,1] = [1]
          input %k: f16[1,1,3,1] = [1000, 0, 0]
          input %v: f16[1,1,3,1] = [1, 2, 4]
          input %m: bool[1,2] = [0, 1]
          %y, %pk, %pv, %s = Attention(%q, %k, %v, %m) {softcap=2.0, qk_matmul_output_mode=1}
          expect %y: f16[1,1,1,1] = [2]
          expect %s: f16[1,1,1,3] = [2, 0, 0])"},
      {"heads that do not divide are refused", R"(
          input %q: f32[1,1,3] = [0, 0, 0]
          %y = Attention(%q, %q, %q) {q_num_heads=2, kv_num_heads=1}
          error attribute 'q_num_heads' is 2)"},
      {"a mask of another length is refused", R"(
          input %q: f32[1,1,1,1] = [0]
          input %m: f32[1,2] = [0, 0]
          %y = Attention(%q, %q, %q, %m)
          error input 3 ('attn_mask') is [1,2])"},
      {"half a cache is refused", R"(
          input %q: f32[1,1,1,1] = [0]
          %y = Attention(%q, %q, %q, _, %q)
          error past_key and past_value must be given together)"},
  };
  return kCases;
}

}  // namespace rk::ops
