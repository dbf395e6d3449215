// SPDX-License-Identifier: Apache-2.0
// Cases of RotaryEmbedding. Cosine 0 and sine 1 turn (a, b) into (-b, a).
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> rotary_embedding_cases() {
  static constexpr OpCase kCases[] = {
      {"positions choose the angle; pairs are a half apart", R"(
          input %x: f32[1,1,2,4] = [1, 2, 3, 4, 5, 6, 7, 8]
          input %c: f32[2,2] = [1, 1, 0, 1]
          input %s: f32[2,2] = [0, 0, 1, 0]
          input %p: i64[1,2] = [1, 0]
          %y = RotaryEmbedding(%x, %c, %s, %p)
          expect %y: f32[1,1,2,4] = [-3, 2, 1, 4, 5, 6, 7, 8])"},
      {"interleaved pairs, packed heads, elements that stay, caches per place", R"(
          input %x: f32[1,1,6] = [1, 2, 3, 4, 5, 6]
          input %c: f32[1,1,1] = [0]
          input %s: f32[1,1,1] = [1]
          %y = RotaryEmbedding(%x, %c, %s) {num_heads=2, interleaved=1, rotary_embedding_dim=2}
          expect %y: f32[1,1,6] = [-2, 1, 3, -5, 4, 6])"},
      {"a position outside is an error", R"(
          input %x: f32[1,1,1,2] = [1, 2]
          input %c: f32[1,1] = [1]
          input %p: i64[1,1] = [1]
          %y = RotaryEmbedding(%x, %c, %c, %p)
          error input 3 ('position_ids') holds 1, expected 0 to 0)"},
      {"an odd number of elements is refused", R"(
          input %x: f32[1,1,1,3] = [1, 2, 3]
          input %c: f32[1,1,1] = [1]
          %y = RotaryEmbedding(%x, %c, %c)
          error attribute 'rotary_embedding_dim' gives 3 turned elements)"},
      {"packed heads need their number", R"(
          input %x: f32[1,1,2] = [1, 2]
          input %c: f32[1,1,1] = [1]
          %y = RotaryEmbedding(%x, %c, %c)
          error attribute 'num_heads' is 0)"},
  };
  return kCases;
}

}  // namespace rk::ops
