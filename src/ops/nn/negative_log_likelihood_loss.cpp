// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss: minus the log probability of each place's label, reduced. The input
// holds log probabilities already; nothing is normalized.
#include "ops/shared/cross_entropy.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status negative_log_likelihood_loss_compute(const EvalCall& call) {
  return class_loss_f32(call, call.input(0).span<float>());
}

Status negative_log_likelihood_loss_reference(const EvalCall& call) {
  return in_f32(call, negative_log_likelihood_loss_compute);
}

}  // namespace

OpDef negative_log_likelihood_loss() {
  return {
      .name = "NegativeLogLikelihoodLoss",
      .doc = "y = minus the log probability of the label, weighted per class and reduced",
      .inputs = {{"x", floats().rank(2, kMaxRank)},
                 {"labels", indices()},
                 {"weights", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = class_loss_attrs(),
      .infer = infer_class_loss,
      .reference = negative_log_likelihood_loss_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
