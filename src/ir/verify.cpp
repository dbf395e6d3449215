// SPDX-License-Identifier: Apache-2.0
// Every invariant of a legal graph, each with its own message.
#include <algorithm>
#include <unordered_set>

#include "ir/graph.h"

namespace rk {
namespace {

Status verify_node(const Node& node, const std::unordered_set<const Value*>& defined) {
  for (size_t i = 0; i < node.input_count(); ++i) {
    const Value* input = node.inputs()[i];
    if (input == nullptr) continue;
    if (!defined.contains(input)) {
      return invalid_model(
          str(node.label(), ": input ", i, " '", input->name(), "' is used before it is computed"));
    }
    const Use use{const_cast<Node*>(&node), i};
    if (std::ranges::find(input->uses(), use) == input->uses().end()) {
      return invalid_model(
          str(node.label(), ": input ", i, " '", input->name(), "' does not list this use"));
    }
  }
  std::vector<TensorType> types(node.output_count());
  InferCall call(node, types);
  std::vector<const TensorType*> inputs;
  for (const Value* input : node.inputs()) {
    inputs.push_back(input == nullptr ? nullptr : &input->type());
  }
  RK_TRY(check_schema(node.def(), inputs, node.output_count(), node.attrs())
             .with_context(node.label()));
  RK_TRY(node.def().infer(call).with_context(node.label()));
  for (size_t i = 0; i < types.size(); ++i) {
    const Value& output = node.output(i);
    if (output.producer() != &node) {
      return invalid_model(
          str(node.label(), ": output '", output.name(), "' names another producer"));
    }
    if (output.type() != types[i]) {
      return invalid_model(str(node.label(), ": output '", output.name(), "' is ",
                               to_string(output.type()), ", inference gives ",
                               to_string(types[i])));
    }
  }
  return ok_status();
}

Status verify_quant(const Value& value) {
  const QuantParams& q = value.quant;
  if (q.scale.empty()) return ok_status();
  const std::string label = str("value '", value.name(), "'");
  if (q.scale.size() != q.zero_point.size()) {
    return invalid_model(
        str(label, ": ", q.scale.size(), " scales but ", q.zero_point.size(), " zero points"));
  }
  const int64_t expected =
      q.per_channel() && q.axis < value.shape().rank() ? value.shape()[q.axis] : 1;
  if (static_cast<int64_t>(q.scale.size()) != expected) {
    return invalid_model(str(label, ": ", q.scale.size(), " scales, expected ", expected));
  }
  for (const float scale : q.scale) {
    if (!(scale > 0) || scale > 3.0e38f)
      return invalid_model(str(label, ": scale ", scale, " is not positive"));
  }
  return ok_status();
}

}  // namespace

Status verify(const Graph& graph) {
  std::unordered_set<const Value*> defined;
  for (const Value* value : graph.values()) {
    RK_TRY(verify_quant(*value));
    if (value->producer() != nullptr) continue;
    if (!value->is_constant() && !graph.is_input(*value)) {
      return invalid_model(
          str("value '", value->name(), "' is neither input, constant nor computed"));
    }
    defined.insert(value);
  }
  for (const Node* node : graph.nodes()) {
    RK_TRY(verify_node(*node, defined));
    for (const Value* output : node->outputs()) defined.insert(output);
  }
  if (graph.outputs().empty()) return invalid_model("the graph has no output");
  for (const Value* output : graph.outputs()) {
    if (!defined.contains(output)) {
      return invalid_model(str("output '", output->name(), "' is never computed"));
    }
  }
  return ok_status();
}

}  // namespace rk
