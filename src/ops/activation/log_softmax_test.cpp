// SPDX-License-Identifier: Apache-2.0
// Cases of LogSoftmax.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> log_softmax_cases() {
  static constexpr OpCase kCases[] = {
      {"no overflow, no lost digits", R"(
          input %x: f32[3] = [1, 2, 3]
          input %z: f32[2] = [0, 1000]
          %y = LogSoftmax(%x)
          %w = LogSoftmax(%z)
          expect %y: f32[3] = [-2.40760596, -1.40760596, -0.407605964]
          expect %w: f32[2] = [-1000, 0])"},
      {"an axis outside is refused", R"(
          input %x: f32[] = [2]
          %y = LogSoftmax(%x)
          error axis -1 is outside rank 0)"},
  };
  return kCases;
}

}  // namespace rk::ops
