// SPDX-License-Identifier: Apache-2.0
// Quantize/Dequantize pairs -> parameters of the values between them. Each rule below keeps the model's own numbers:
//
//   Q(max(x)) = max(Q(x)), and the same for every operator that moves or clamps, because rounding is monotonic and 0 is
//   a stored number. So parameters may wander over MaxPool, Reshape, Concat, Relu and Clip, and a clamp whose limits are
//   the ends of the stored range does nothing.
#include <algorithm>
#include <cmath>

#include "quant/prequantized.h"
#include "quant/qdq.h"

namespace rk::quant {
namespace {

bool same_params(const QuantParams& a, const QuantParams& b) {
  return a.dtype == b.dtype && a.axis == b.axis && a.scale == b.scale &&
         a.zero_point == b.zero_point;
}

bool one_scale(const std::optional<QuantParams>& params) {
  return params && !params->per_channel();
}

bool moves_values(const Node& node) { return node.def().quant == QuantRule::kSameScaleAsInput; }
bool has_several_operands(const Node& node) {
  return node.def().inputs.front().kind == ArgDef::kVariadic;
}

// The result is one of the operands, chosen by their order, which rounding keeps.
bool selects_values(const Node& node) { return node.op() == "Max" || node.op() == "Min"; }

struct Bounds {
  float least = -INFINITY, most = INFINITY;
};

std::optional<Bounds> clamp_of(const Node& node) {
  if (node.op() == "Relu") return Bounds{0, INFINITY};
  if (node.op() != "Clip") return std::nullopt;
  Bounds out;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!node.has_input(i)) continue;
    if (!node.input(i).is_constant()) return std::nullopt;
    (i == 1 ? out.least : out.most) = static_cast<float>(node.input(i).constant().at_f64(0));
  }
  return out;
}

// The value in other parameters: an exDataConvert behind it, made once per pair of parameters.
Result<Value*> converted(Graph& graph, Value& x, const QuantParams& params) {
  for (const Use& use : x.uses()) {
    if (use.node->op() == "exDataConvert" && same_params(use.node->output().quant, params))
      return &use.node->output();
  }
  // Behind the producer: in front of whatever reads it first.
  const std::vector<Node*> nodes = graph.nodes();
  const auto place = std::ranges::find(nodes, x.producer());
  Node* const before = x.producer() == nullptr    ? nodes.front()
                       : place + 1 == nodes.end() ? nullptr
                                                  : *(place + 1);
  RK_ASSIGN(Node* const node, graph.add_node({"exDataConvert",
                                              graph.unique_name(x.name() + "_convert"),
                                              {&x},
                                              {graph.unique_name(x.name() + "_converted")},
                                              {}},
                                             before));
  node->output().quant = params;
  return &node->output();
}

// What a stored number stands for.
Value* real_constant(Graph& graph, const std::string& name, const Tensor& stored,
                     const QuantParams& params) {
  std::vector<float> values;
  for (const int64_t number : stored.to_i64())
    values.push_back(static_cast<float>(number - params.zero_point[0]) * params.scale[0]);
  return graph.add_constant(name + "_real", Tensor::f32(stored.shape(), values));
}

// MaxPool and its like on stored numbers (QOperator models): the same on the numbers they stand for.
Status lift_integer_moves(Graph& graph) {
  for (Node* node : graph.nodes()) {
    if (!moves_values(*node) || has_several_operands(*node)) continue;
    Node* const q = node->input(0).producer();
    if (q == nullptr || !is_byte(node->output().dtype()) || !one_scale(quantize_params(*q)))
      continue;
    std::vector<Value*> around = q->inputs();
    around[0] = &node->input(0);
    RK_ASSIGN(
        Node* const before,
        graph.add_node({"DequantizeLinear", node->name() + "_dequantize", around, {""}, {}}, node));
    NodeSpec spec{std::string(node->op()), node->name(), node->inputs(), {}, node->attrs()};
    spec.outputs.assign(node->output_count(), "");
    spec.inputs[0] = &before->output();
    const QuantParams params = *quantize_params(*q);
    for (size_t i = 1; i < spec.inputs.size(); ++i) {
      if (!node->has_input(i) || node->input(i).dtype() != node->output().dtype()) continue;
      if (!node->input(i).is_constant()) continue;
      spec.inputs[i] =
          real_constant(graph, node->input(i).name(), node->input(i).constant(), params);
    }
    // Padding of stored numbers is the number 0, which is not the value 0.
    if (node->op() == "Pad" && !node->has_input(2)) {
      spec.inputs.resize(std::max<size_t>(spec.inputs.size(), 3), nullptr);
      const Tensor zero = Tensor::make({node->output().dtype(), {}});
      spec.inputs[2] = real_constant(graph, node->name() + "_padding", zero, params);
    }
    RK_ASSIGN(Node* const real, graph.add_node(std::move(spec), node));
    for (size_t i = 0; i < node->output_count(); ++i) {
      if (node->output(i).dtype() != node->output().dtype()) continue;  // MaxPool's indices
      around[0] = &real->output(i);
      RK_ASSIGN(Node* const after,
                graph.add_node(
                    {"QuantizeLinear", str(node->name(), "_quantize", i), around, {""}, {}}, node));
      graph.replace_uses(&node->output(i), &after->output());
    }
  }
  graph.remove_unused();
  return ok_status();
}

// The value that stands for a quantized x.
Result<Value*> carrier(Graph& graph, Value& x, const QuantParams& params) {
  if (!x.quantized()) x.quant = params;
  return same_params(x.quant, params) ? Result<Value*>(&x) : converted(graph, x, params);
}

Status absorb_pairs(Graph& graph) {
  for (Node* q : graph.nodes()) {
    const auto params = quantize_params(*q);
    if (!one_scale(params) || q->input(0).dtype() != DType::kF32 || q->input(0).is_constant())
      continue;
    for (const Use& use : std::vector<Use>(q->output().uses())) {
      Node& dq = *use.node;
      const auto back = dequantize_params(dq);
      if (!one_scale(back) || !same_params(*params, *back) || dq.output().dtype() != DType::kF32)
        continue;
      RK_ASSIGN(Value * value, carrier(graph, q->input(0), *params));
      if (!graph.can_replace(dq.output(), *value)) {
        // An output that is an input, or another output, needs a step of its own.
        RK_ASSIGN(Node* const copy, graph.add_node({"exDataConvert",
                                                    dq.name() + "_copy",
                                                    {value},
                                                    {graph.unique_name(value->name() + "_copy")},
                                                    {}},
                                                   &dq));
        copy->output().quant = *params;
        value = &copy->output();
      }
      graph.replace_uses(&dq.output(), value);
    }
  }
  graph.remove_unused();
  return ok_status();
}

bool is_only_reader(const Graph& graph, const Value& value) {
  return value.uses().size() == 1 && !graph.is_output(value);
}

bool take(const Value& from, Value& to) {
  if (!from.quantized() || from.quant.per_channel() || to.quantized() || !is_activation(to))
    return false;
  to.quant = from.quant;
  return true;
}

// Parameters wander over operators that move or clamp, until nothing changes.
void fill_gaps(const Graph& graph) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node* node : graph.nodes()) {
      const bool moves = moves_values(*node) || selects_values(*node);
      if (!moves && !clamp_of(*node)) continue;
      if (moves && has_several_operands(*node)) {
        Value& out = node->output();
        const auto differs = [&](const Value* input) {
          return !input->quantized() || !same_params(input->quant, node->input(0).quant);
        };
        if (std::ranges::none_of(node->inputs(), differs)) changed |= take(node->input(0), out);
        for (Value* input : node->inputs()) {
          if (is_only_reader(graph, *input)) changed |= take(out, *input);
        }
        continue;
      }
      Value& in = node->input(0);
      for (Value* out : node->outputs()) {
        changed |= take(in, *out);
        if (node->output_count() == 1 && is_only_reader(graph, in)) changed |= take(*out, in);
      }
    }
  }
}

// An operator that moves stored numbers cannot change their scale.
Status convert_behind_moves(Graph& graph) {
  for (Node* node : graph.nodes()) {
    if (!moves_values(*node) || has_several_operands(*node)) continue;
    const Value& in = node->input(0);
    for (Value* out : node->outputs()) {
      if (!in.quantized() || !out->quantized() || same_params(in.quant, out->quant)) continue;
      const QuantParams wanted = out->quant;
      const std::vector<Use> readers = out->uses();
      const bool is_output = graph.is_output(*out);
      const std::string name = out->name();
      out->quant = in.quant;
      RK_ASSIGN(Value* const value, converted(graph, *out, wanted));
      for (const Use& reader : readers) graph.set_input(reader.node, reader.index, value);
      if (!is_output) continue;
      std::vector<Value*> outputs = graph.outputs();
      std::ranges::replace(outputs, out, value);
      graph.set_outputs(std::move(outputs));
      graph.rename(out, graph.unique_name(name + "_moved"));
      graph.rename(value, name);
    }
  }
  return ok_status();
}

void drop_idle_clamps(Graph& graph) {
  for (Node* node : graph.nodes()) {
    const auto bounds = clamp_of(*node);
    if (!bounds || !node->input(0).quantized() || !node->output().quantized()) continue;
    const QuantParams& params = node->output().quant;
    const auto [least, most] = limits(params.dtype);
    const bool idle = same_params(node->input(0).quant, params) &&
                      quantize_value(params, bounds->least) == least &&
                      quantize_value(params, bounds->most) == most;
    if (!idle || !graph.can_replace(node->output(), node->input(0))) continue;
    graph.replace_uses(&node->output(), &node->input(0));
  }
  graph.remove_unused();
}

// x * Sigmoid(x) on stored numbers is a function of x alone. One operator instead of two saves the rounding of the
// sigmoid, half a step of the result at most.
Status join_swish(Graph& graph) {
  for (Node* mul : graph.nodes()) {
    if (mul->op() != "Mul" || !mul->output().quantized()) continue;
    for (const size_t gate : {size_t{0}, size_t{1}}) {
      Value& x = mul->input(1 - gate);
      const Node* const inner = mul->input(gate).producer();
      if (inner == nullptr || inner->input_count() == 0 || &inner->input(0) != &x) continue;
      if (!x.quantized() || !is_only_reader(graph, mul->input(gate))) continue;
      NodeSpec spec{
          "", mul->name(), {&x}, {graph.unique_name(mul->output().name() + "_swish")}, {}};
      if (inner->op() == "Sigmoid") spec.op = "exSwish";
      const bool hard = inner->op() == "HardSigmoid" && inner->f32("beta") == 0.5f &&
                        std::abs(inner->f32("alpha") - 1.0f / 6) < 1e-6f;
      if (hard) spec.op = "HardSwish";
      if (spec.op.empty()) continue;
      RK_ASSIGN(Node* const joined, graph.add_node(std::move(spec), mul));
      joined->output().quant = mul->output().quant;
      const std::string name = mul->output().name();
      const bool was_output = graph.is_output(mul->output());
      graph.replace_uses(&mul->output(), &joined->output());
      if (!was_output) {
        graph.rename(&mul->output(), graph.unique_name(name + "_joined"));
        graph.rename(&joined->output(), name);
      }
      break;
    }
  }
  graph.remove_unused();
  return ok_status();
}

}  // namespace

Status take_activations(Graph& graph, const QuantizeOptions& options) {
  if (!is_prequantized(graph)) return ok_status();
  RK_TRY(lift_integer_moves(graph));
  RK_TRY(absorb_pairs(graph));
  fill_gaps(graph);
  RK_TRY(convert_behind_moves(graph));
  drop_idle_clamps(graph);
  RK_TRY(join_swish(graph));
  const auto is_quantized = [](const Value* value) { return value->quantized(); };
  for (const Node* node : graph.nodes()) {
    // Weights that the model left in float although what they meet is quantized.
    if (is_quantized(&node->output()) && node->has_input(0) && is_quantized(&node->input(0)))
      RK_TRY(quantize_weights(*node, options));
  }
  return verify(graph);
}

bool has_quantized_activations(const Graph& graph) {
  return std::ranges::any_of(graph.values(), [](const Value* value) {
    return is_activation(*value) && value->quantized();
  });
}

}  // namespace rk::quant
