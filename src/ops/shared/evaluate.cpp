// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/evaluate.h"

namespace rk::ops {
namespace {

// A small file can describe a huge constant (ConstantOfShape, Expand); such a one is cheaper to
// compute when run.
constexpr uint64_t kMaxFoldedBytes = uint64_t{256} << 20;

}  // namespace

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
  return size_bytes <= kMaxFoldedBytes;
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
