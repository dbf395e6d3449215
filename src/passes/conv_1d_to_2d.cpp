// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools over one spatial axis become the two-dimensional ones the NPU has, over
// pictures of one row: [N,C,L] is read as [N,C,1,L]. The Reshapes around cost nothing and cancel
// between neighbors.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

Shape with_row(const Shape& shape) { return {shape[0], shape[1], 1, shape[2]}; }

// Lists of one entry per spatial axis get a leading one for the row; pads come as begins, then
// ends.
AttrMap with_row(const AttrMap& attrs) {
  AttrMap out = attrs;
  const auto prepend = [&](const char* name, int64_t neutral) {
    const auto it = out.find(name);
    if (it == out.end()) return;
    auto values = std::get<std::vector<int64_t>>(it->second);
    if (values.size() == 1) it->second = std::vector<int64_t>{neutral, values[0]};
  };
  prepend("kernel_shape", 1);
  prepend("strides", 1);
  prepend("dilations", 1);
  prepend("output_padding", 0);
  prepend("output_shape", 1);
  if (const auto it = out.find("pads"); it != out.end()) {
    const auto values = std::get<std::vector<int64_t>>(it->second);
    if (values.size() == 2) it->second = std::vector<int64_t>{0, values[0], 0, values[1]};
  }
  return out;
}

Result<Value*> weight_with_row(Graph& graph, Value& weight, Node* before) {
  const Shape shape = with_row(weight.shape());
  if (weight.is_constant()) {
    Value* wide = graph.add_constant(weight.name(), weight.constant().reshaped(shape));
    wide->quant = weight.quant;  // per channel of an axis in front of the new one
    return wide;
  }
  RK_ASSIGN(Node* const node,
            graph.add_node(reshape_to(graph, weight.name() + "_row", &weight, shape), before));
  return &node->output();
}

Result<Rewrite> widen(Match& m) {
  Graph& graph = m.graph();
  const Node& node = m[0];
  if (node.input(0).shape().rank() != 3 || node.output_count() != 1 ||
      node.input(0).dtype() != DType::kF32)
    return Rewrite::kSkip;
  RK_ASSIGN(Node* const rows, graph.add_node(reshape_to(graph, node.name() + "_row", &node.input(0),
                                                        with_row(node.input(0).shape())),
                                             &m[0]));
  std::vector<Value*> inputs = node.inputs();
  inputs[0] = &rows->output();
  if (node.has_input(1)) {
    RK_ASSIGN(inputs[1], weight_with_row(graph, node.input(1), &m[0]));
  }
  RK_ASSIGN(
      Node* const wide,
      graph.add_node(
          {std::string(node.op()), node.name(), std::move(inputs), {""}, with_row(node.attrs())},
          &m[0]));
  const Shape out = node.output().shape();
  return m.replace_with(reshape_to(graph, node.name() + "_axes", &wide->output(), out));
}

}  // namespace

Result<size_t> conv_1d_to_2d(Graph& graph) {
  size_t total = 0;
  for (const std::string_view op :
       {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(op), widen));
    total += changed;
  }
  return total;
}

}  // namespace rk::passes
