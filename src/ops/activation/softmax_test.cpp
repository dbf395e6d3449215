// SPDX-License-Identifier: Apache-2.0
// Cases of Softmax.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> softmax_cases() {
  static constexpr OpCase kCases[] = {
      {"along the last axis", R"(
          input %x: f32[2,3] = [1, 2, 3, -1, 0, 1000]
          %y = Softmax(%x)
          expect %y: f32[2,3] = [0.0900305732, 0.244728471, 0.665240956, 0, 0, 1])"},
      {"along a middle axis", R"(
          input %x: f32[1,2,2] = [0, 1, 2, 1]
          %y = Softmax(%x) {axis=-2}
          expect %y: f32[1,2,2] = [0.119202922, 0.5, 0.880797078, 0.5])"},
      {"an empty axis", R"(
          input %x: f32[2,0] = []
          %y = Softmax(%x)
          expect %y: f32[2,0] = [])"},
      {"half floats", R"(
          input %x: f16[2] = [5, 5]
          %y = Softmax(%x)
          expect %y: f16[2] = [0.5, 0.5])"},
      {"an axis outside is refused", R"(
          input %x: f32[2] = [1, 2]
          %y = Softmax(%x) {axis=1}
          error axis 1 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
