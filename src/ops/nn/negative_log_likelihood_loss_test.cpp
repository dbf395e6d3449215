// SPDX-License-Identifier: Apache-2.0
// Cases of NegativeLogLikelihoodLoss.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> negative_log_likelihood_loss_cases() {
  static constexpr OpCase kCases[] = {
      {"each place takes its label's entry, the mean weighs by class", R"(
          input %x: f32[2,3] = [-1, -2, -3, -4, -5, -6]
          input %l: i64[2] = [2, 0]
          input %w: f32[3] = [1, 10, 3]
          %n = NegativeLogLikelihoodLoss(%x, %l) {reduction="none"}
          %s = NegativeLogLikelihoodLoss(%x, %l, %w) {reduction="sum"}
          %m = NegativeLogLikelihoodLoss(%x, %l, %w)
          expect %n: f32[2] = [3, 4]
          expect %s: f32[] = [13]
          expect %m: f32[] = [3.25])"},
      {"classes lie on axis 1, an ignored label counts nothing", R"(
          input %x: f16[1,2,3] = [-1, -2, -3, -4, -5, -6]
          input %l: i32[1,3] = [0, 7, 1]
          %n = NegativeLogLikelihoodLoss(%x, %l) {reduction="none", ignore_index=7}
          %m = NegativeLogLikelihoodLoss(%x, %l) {ignore_index=7}
          expect %n: f16[1,3] = [1, 0, 6]
          expect %m: f16[] = [3.5])"},
      {"a label outside the classes is an error", R"(
          input %x: f32[1,2] = [0, 0]
          input %l: i64[1] = [2]
          %y = NegativeLogLikelihoodLoss(%x, %l)
          error input 1 ('labels') holds 2, expected 0 to 1)"},
      {"labels of another shape are refused", R"(
          input %x: f32[1,2,3] = [0, 0, 0, 0, 0, 0]
          input %l: i64[1,2] = [0, 0]
          %y = NegativeLogLikelihoodLoss(%x, %l)
          error input 1 ('labels') is i64[1,2], expected shape [1,3])"},
  };
  return kCases;
}

}  // namespace rk::ops
