// SPDX-License-Identifier: Apache-2.0
// Cases of SoftmaxCrossEntropyLoss.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> softmax_cross_entropy_loss_cases() {
  static constexpr OpCase kCases[] = {
      // log softmax of (0, ln 3): -ln 4, ln 3 - ln 4.
      {"two classes with odds of one to three", R"(
          input %x: f32[2,2] = [0, 1.09861229, 1.09861229, 0]
          input %l: i64[2] = [0, 0]
          %y, %p = SoftmaxCrossEntropyLoss(%x, %l) {reduction="none"}
          expect %y: f32[2] = [1.38629436, 0.287682072]
          expect %p: f32[2,2] = [-1.38629436, -0.287682072, -0.287682072, -1.38629436])"},
      {"the loss alone, an ignored label, places behind the classes", R"(
          input %x: f32[1,2,2] = [0, 0, 1.09861229, 0]
          input %l: i32[1,2] = [0, -1]
          %y = SoftmaxCrossEntropyLoss(%x, %l) {reduction="sum", ignore_index=-1}
          expect %y: f32[] = [1.38629436])"},
      {"a label outside the classes is an error", R"(
          input %x: f32[1,2] = [0, 0]
          input %l: i64[1] = [-1]
          %y = SoftmaxCrossEntropyLoss(%x, %l)
          error input 1 ('labels') holds -1, expected 0 to 1)"},
      {"weights of another length are refused", R"(
          input %x: f32[1,2] = [0, 0]
          input %l: i64[1] = [0]
          input %w: f32[3] = [1, 1, 1]
          %y = SoftmaxCrossEntropyLoss(%x, %l, %w)
          error input 2 ('weights') is f32[3], expected shape [2])"},
  };
  return kCases;
}

}  // namespace rk::ops
