// SPDX-License-Identifier: Apache-2.0
#include "quant/prequantized.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "ops/shared/evaluate.h"
#include "quant/qdq.h"

namespace rk::quant {
namespace {

// The quantization a constant keeps when an operator rearranges it; none where it is lost.
std::optional<QuantParams> rearranged(const Node& node) {
  const QuantParams& from = node.input(0).quant;
  if (from.scale.empty() || node.def().quant != QuantRule::kSameScaleAsInput ||
      node.output_count() != 1)
    return std::nullopt;
  if (!from.per_channel()) return from;
  QuantParams out = from;
  const Shape &before = node.input(0).shape(), &after = node.output().shape();
  if (node.op() == "Transpose") {
    std::vector<int64_t> perm;
    if (node.has_attr("perm")) perm = node.ints("perm");
    for (int axis = 0; axis < after.rank(); ++axis) {
      const auto i = static_cast<size_t>(axis);
      const int64_t source = perm.empty() ? after.rank() - 1 - axis : perm[i];
      if (source == from.axis) out.axis = axis;
    }
    return out;
  }
  // A Reshape and its relatives: the axis must still be there, with as many elements in front of it.
  int64_t in_front = 1;
  for (int axis = 0; axis < from.axis; ++axis) in_front *= before[axis];
  int64_t seen = 1;
  for (int axis = 0; axis < after.rank(); ++axis) {
    const bool same_count = node.input(0).shape().elements() == after.elements();
    if (same_count && seen == in_front && after[axis] == before[from.axis] && after[axis] > 1) {
      out.axis = axis;
      return out;
    }
    seen *= after[axis];
  }
  return std::nullopt;
}

// A folded node's output as a constant under the output's own name.
void replace_by_constant(Graph& graph, Value& output, Tensor tensor,
                         const std::optional<QuantParams>& quant) {
  const std::string name = output.name();
  graph.rename(&output, graph.unique_name(name + "_folded"));
  Value* const constant = graph.add_constant(name, std::move(tensor));
  if (quant) constant->quant = *quant;
  graph.replace_uses(&output, constant);
}

Status float_input(Graph& graph, Value& input) {
  const std::vector<Use> uses = input.uses();
  if (uses.empty() || graph.is_output(input)) return ok_status();
  std::optional<QuantParams> params;
  for (const Use& use : uses) {
    const auto found = dequantize_params(*use.node);
    if (!found || (params && *params != *found)) return ok_status();
    params = found;
  }
  Node& first = *uses.front().node;
  const std::vector<Value*> inputs = first.inputs();
  const AttrMap attrs = first.attrs();
  for (size_t i = 1; i < uses.size(); ++i) {
    if (!graph.can_replace(uses[i].node->output(), first.output())) return ok_status();
    graph.replace_uses(&uses[i].node->output(), &first.output());
    graph.remove(uses[i].node);
  }
  if (graph.is_output(first.output())) return ok_status();
  const std::string name = input.name();
  std::vector<Use> readers = first.output().uses();
  RK_TRY(graph.replace_input(&input, &first.output()));
  Value* const real = graph.find(name);
  RK_ASSIGN(Node* const q,
            graph.add_node({"QuantizeLinear",
                            name + "_quantize",
                            {real, inputs[1], inputs.size() > 2 ? inputs[2] : nullptr},
                            {graph.unique_name(name + "_quantized")},
                            {}},
                           graph.nodes().front()));
  NodeSpec spec{"DequantizeLinear", name + "_dequantize", inputs, {""}, attrs};
  spec.inputs[0] = &q->output();
  RK_ASSIGN(Node* const dq, graph.add_node(std::move(spec), graph.nodes()[1]));
  for (const Use& reader : readers) graph.set_input(reader.node, reader.index, &dq->output());
  return ok_status();
}

Status float_output(Graph& graph, size_t index) {
  Value& output = *graph.outputs()[index];
  if (output.producer() == nullptr || !quantize_params(*output.producer())) return ok_status();
  Node& q = *output.producer();
  const std::string name = output.name();
  graph.rename(&output, graph.unique_name(name + "_quantized"));
  NodeSpec spec{"DequantizeLinear", name + "_dequantize", q.inputs(), {name}, {}};
  spec.inputs[0] = &output;
  RK_ASSIGN(Node* const dq, graph.add_node(std::move(spec)));
  std::vector<Value*> outputs = graph.outputs();
  outputs[index] = &dq->output();
  graph.set_outputs(std::move(outputs));
  return ok_status();
}

}  // namespace

bool is_prequantized(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node* node) {
    return node->op() == "DequantizeLinear" || node->op() == "QuantizeLinear";
  });
}

Status float_borders(Graph& graph) {
  if (!is_prequantized(graph)) return ok_status();
  // Scales and zero points may still be behind an Identity or a Mul.
  RK_TRY(fold_scales(graph));
  for (Value* input : std::vector<Value*>(graph.inputs())) {
    if (is_byte(input->dtype())) RK_TRY(float_input(graph, *input));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (is_byte(graph.outputs()[i]->dtype())) RK_TRY(float_output(graph, i));
  }
  return verify(graph);
}

Status fold_scales(Graph& graph) {
  for (Node* node : graph.nodes()) {
    const bool is_border = node->op() == "DequantizeLinear" || node->op() == "QuantizeLinear";
    if (is_border || !ops::can_fold(*node) || graph.is_output(node->output())) continue;
    RK_ASSIGN(std::vector<Tensor> results, ops::fold(*node));
    if (results.size() != 1) continue;
    replace_by_constant(graph, node->output(), std::move(results[0]), rearranged(*node));
  }
  graph.remove_unused();
  return ok_status();
}

Status take_constants(Graph& graph) {
  if (!is_prequantized(graph)) return ok_status();
  for (Node* node : graph.nodes()) {
    if (!ops::can_fold(*node) || node->output_count() != 1 || graph.is_output(node->output()))
      continue;
    RK_ASSIGN(std::vector<Tensor> results, ops::fold(*node));
    std::optional<QuantParams> quant = rearranged(*node);
    if (node->op() == "DequantizeLinear" && node->output().dtype() == DType::kF32)
      quant = dequantize_params(*node);
    replace_by_constant(graph, node->output(), std::move(results[0]), quant);
  }
  graph.remove_unused();
  return verify(graph);
}

}  // namespace rk::quant
