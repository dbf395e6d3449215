// SPDX-License-Identifier: Apache-2.0
// SoftmaxCrossEntropyLoss: LogSoftmax over axis 1 and minus the entry of each place's label,
// reduced. The log probabilities are a second, optional output.
#include <algorithm>

#include "ops/activation/softmax.h"
#include "ops/shared/cross_entropy.h"

namespace rk::ops {
namespace {

Status softmax_cross_entropy_loss_infer(InferCall& call) {
  RK_TRY(infer_class_loss(call));
  return set_output(call, 1, call.input(0).dtype, call.input(0).shape);
}

Status softmax_cross_entropy_loss_compute(const EvalCall& call) {
  std::vector<float> log_probabilities(static_cast<size_t>(call.input(0).elements()));
  softmax_along(call, split_at(call.input(0).shape(), 1), call.input(0).data<float>(),
                log_softmax_of, log_probabilities.data());
  if (call.outputs.size() > 1) {
    std::ranges::copy(log_probabilities, call.output(1).mutable_data<float>());
  }
  return class_loss_f32(call, log_probabilities);
}

Status softmax_cross_entropy_loss_reference(const EvalCall& call) {
  return in_f32(call, softmax_cross_entropy_loss_compute);
}

Cost softmax_cross_entropy_loss_cost(const Node& node) {
  return {.ops = 3 * static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef softmax_cross_entropy_loss() {
  return {
      .name = "SoftmaxCrossEntropyLoss",
      .doc = "y = minus the log softmax of the label, weighted per class and reduced",
      .inputs = {{"x", floats().rank(2, kMaxRank)},
                 {"labels", indices()},
                 {"weights", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}, {"log_prob", ArgDef::kOptional}},
      .attrs = class_loss_attrs(),
      .infer = softmax_cross_entropy_loss_infer,
      .reference = softmax_cross_entropy_loss_reference,
      .cost = softmax_cross_entropy_loss_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
