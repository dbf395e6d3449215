// SPDX-License-Identifier: Apache-2.0
// Cases of exSDPAttention; numbers from numpy's matrix product and exp in double.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_sdp_attention_cases() {
  static constexpr OpCase kCases[] = {
      {"three queries over four keys", R"(
          input %q: f32[1,3,2] = [1, 0, 0, 2, 1, -1]
          input %k: f32[1,4,2] = [1, 1, 0.5, -1, -1, 0, 2, 0.25]
          input %v: f32[1,4,1] = [1, 2, 3, -4]
          %y = exSDPAttention(%q, %k, %v) {scale=0.5}
          expect %y: f32[1,3,1] = [-0.772947262, 0.245417733, -0.415181413])"},
      {"the mask is added to the scores and hides keys", R"(
          input %q: f32[3,2] = [1, 0, 0, 2, 1, -1]
          input %k: f32[4,2] = [1, 1, 0.5, -1, -1, 0, 2, 0.25]
          input %v: f32[4,1] = [1, 2, 3, -4]
          input %mask: f32[1,4] = [0, -inf, 1, 0]
          %y = exSDPAttention(%q, %k, %v, %mask) {scale=0.5}
          expect %y: f32[3,1] = [-0.711176571, 0.853649224, -0.722985151])"},
      {"each batch has its own keys", R"(
          input %q: f32[2,1,1] = [1, 1]
          input %k: f32[2,1,1] = [5, -5]
          input %v: f32[2,1,2] = [1, 2, 3, 4]
          %y = exSDPAttention(%q, %k, %v)
          expect %y: f32[2,1,2] = [1, 2, 3, 4])"},
      {"transposed keys are refused", R"(
          input %q: f32[1,3,2] = [1, 0, 0, 2, 1, -1]
          input %k: f32[1,2,4] = [1, 1, 0.5, -1, -1, 0, 2, 0.25]
          input %v: f32[1,4,1] = [1, 2, 3, -4]
          %y = exSDPAttention(%q, %k, %v)
          error input 1 ('k') is f32[1,2,4], expected shape [1,4,2])"},
      {"a mask that is larger than the scores is refused", R"(
          input %q: f32[1,2] = [1, 0]
          input %k: f32[1,2] = [1, 1]
          input %v: f32[1,1] = [1]
          input %mask: f32[3,1] = [1, 2, 3]
          %y = exSDPAttention(%q, %k, %v, %mask)
          error input 3 ('mask') is [3,1], expected a shape that broadcasts to [1,1])"},
  };
  return kCases;
}

}  // namespace rk::ops
