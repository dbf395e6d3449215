// SPDX-License-Identifier: Apache-2.0
// Nodes that hand their first input on unchanged: Identity, inference Dropout, a Cast to the same
// dtype, an empty Pad, a Slice of everything, a Concat of one, an Expand or Reshape to the same
// shape, x + 0, x * 1.
#include <algorithm>

#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool all_equal(const Tensor& tensor, double wanted) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.at_f64(i) != wanted) return false;
  }
  return true;
}

bool constant_equals(const Node& node, size_t input, double wanted) {
  return node.has_input(input) && node.input(input).is_constant() &&
         all_equal(node.input(input).constant(), wanted);
}

// Which input the node's output equals, or -1. Types were compared by the caller.
int passed_through(const Node& node) {
  const std::string_view op = node.op();
  if (op == "Identity" || op == "Dropout" || op == "Cast" || op == "Reshape" || op == "Expand" ||
      op == "Squeeze" || op == "Unsqueeze" || op == "Flatten") {
    return 0;  // equal types make each of these a copy
  }
  if (op == "Concat" && node.input_count() == 1) return 0;
  if (op == "Pad" && constant_equals(node, 1, 0)) return 0;
  // Equal shapes leave only full slices; a negative step would reverse the order.
  if (op == "Slice") {
    return !node.has_input(4) || constant_equals(node, 4, 1) ? 0 : -1;
  }
  if (op == "Add") return constant_equals(node, 1, 0) ? 0 : constant_equals(node, 0, 0) ? 1 : -1;
  if (op == "Mul") return constant_equals(node, 1, 1) ? 0 : constant_equals(node, 0, 1) ? 1 : -1;
  if (op == "Sub") return constant_equals(node, 1, 0) ? 0 : -1;
  if (op == "Div") return constant_equals(node, 1, 1) ? 0 : -1;
  return -1;
}

}  // namespace

Result<size_t> remove_no_ops(Graph& graph) {
  size_t removed = 0;
  for (Node* node : graph.nodes()) {
    const int input = passed_through(*node);
    if (input < 0) continue;
    Value& from = node->output();
    Value& to = node->input(static_cast<size_t>(input));
    if (!graph.can_replace(from, to)) continue;
    if (node->output_count() > 1 && !node->output(1).uses().empty())
      continue;  // Dropout's mask is wanted
    graph.replace_uses(&from, &to);
    ++removed;
  }
  graph.remove_unused();
  return removed;
}

}  // namespace rk::passes
