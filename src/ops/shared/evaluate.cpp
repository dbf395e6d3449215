// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/evaluate.h"

#include "base/checked_math.h"

namespace rk::ops {

Result<std::vector<Tensor>> evaluate_reference(const Node& node,
                                               std::span<const Tensor* const> inputs,
                                               ThreadPool* pool) {
  std::vector<Tensor> outputs;
  for (const Value* output : node.outputs()) {
    auto tensor = Tensor::try_make(output->type());
    if (!tensor.ok()) return tensor.status().with_context(node.label());
    outputs.push_back(std::move(tensor).value());
  }
  RK_TRY(node.def().reference({node, inputs, outputs, pool}).with_context(node.label()));
  return outputs;
}

bool FoldBudget::take(const Node& node) {
  uint64_t bytes = 0;
  for (const Value* output : node.outputs()) bytes += checked_byte_size(output->type()).value();
  const Cost cost = node.def().cost(node);
  const auto work = checked_add(cost.macs, cost.ops);
  if (!work || *work > operations_ || bytes > bytes_) return false;
  operations_ -= *work;
  bytes_ -= bytes;
  return true;
}

bool can_fold(const Node& node) {
  for (const Value* input : node.inputs()) {
    if (input != nullptr && !input->is_constant() && !node.def().shape_only) return false;
  }
  uint64_t size_bytes = 0;
  for (const Value* output : node.outputs()) {
    const auto own = checked_byte_size(output->type());
    if (!own.ok()) return false;
    size_bytes += *own;
  }
  return size_bytes <= budget::kFoldedNodeBytes;
}

Result<std::vector<Tensor>> fold(const Node& node) {
  // Operators with shape_only read the types from the node, so an absent tensor is enough for them.
  std::vector<const Tensor*> inputs;
  for (const Value* input : node.inputs()) {
    inputs.push_back(input != nullptr && input->is_constant() ? &input->constant() : nullptr);
  }
  return evaluate_reference(node, inputs);
}

}  // namespace rk::ops
