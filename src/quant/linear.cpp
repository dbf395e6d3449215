// SPDX-License-Identifier: Apache-2.0
#include "quant/linear.h"

namespace rk::quant {
namespace {

bool is_f32_constant(const Node& node, size_t input) {
  return node.has_input(input) && node.input(input).is_constant() &&
         node.input(input).dtype() == DType::kF32;
}

// The new constant takes over name and parameters; the old one goes unless somebody else reads it.
void replace_constant(Graph& graph, Node& node, size_t input, std::string name, Tensor tensor) {
  QuantParams quant;
  if (node.has_input(input)) {
    Value& old = node.input(input);
    quant = old.quant;
    if (old.uses().size() == 1) graph.rename(&old, graph.unique_name(name + "_before"));
  }
  Value* const fresh = graph.add_constant(std::move(name), std::move(tensor));
  fresh->quant = std::move(quant);
  graph.set_input(&node, input, fresh);
}

size_t extent(int64_t value) { return static_cast<size_t>(value); }

}  // namespace

std::optional<Linear> Linear::of(const Node& node) {
  const std::string_view op = node.op();
  const bool conv = op == "Conv" || op == "FusedConv", transposed = op == "ConvTranspose";
  if ((!conv && !transposed && op != "Gemm") || !is_f32_constant(node, 1)) return std::nullopt;
  const Shape& weights = node.input(1).shape();
  Linear out;
  out.node_ = &node;
  if (op == "Gemm") {
    if (node.i64("transA") != 0 || node.f32("alpha") != 1 || node.f32("beta") != 1)
      return std::nullopt;
    out.inputs_first_ = node.i64("transB") == 0;
    out.out_channels_ = extent(weights[out.inputs_first_ ? 1 : 0]);
    out.in_channels_ = extent(weights[out.inputs_first_ ? 0 : 1]);
  } else {
    out.groups_ = extent(node.i64("group"));
    out.inputs_first_ = transposed;
    out.in_channels_ = extent(transposed ? weights[0] : weights[1] * node.i64("group"));
    out.out_channels_ = extent(transposed ? weights[1] * node.i64("group") : weights[0]);
    for (int axis = 2; axis < weights.rank(); ++axis) out.taps_ *= extent(weights[axis]);
  }
  if (weights.elements() == 0) return std::nullopt;
  if (!node.has_input(2)) return out;
  const bool fits =
      is_f32_constant(node, 2) && extent(node.input(2).shape().elements()) == out.out_channels_;
  return fits ? std::optional(out) : std::nullopt;
}

double Linear::taps_per_output() const {
  return static_cast<double>(taps_ * (in_channels_ / groups_));
}

std::vector<float> Linear::bias() const {
  if (!node_->has_input(2)) return std::vector<float>(out_channels_, 0.0f);
  return node_->input(2).constant().to_f32();
}

void replace_weights(Graph& graph, Node& node, Tensor weights) {
  replace_constant(graph, node, 1, node.input(1).name(), std::move(weights));
}

void replace_bias(Graph& graph, Node& node, const std::vector<float>& bias) {
  const bool had = node.has_input(2);
  const Shape shape = had ? node.input(2).shape() : Shape{static_cast<int64_t>(bias.size())};
  replace_constant(graph, node, 2, had ? node.input(2).name() : node.name() + "_bias",
                   Tensor::f32(shape, bias));
}

}  // namespace rk::quant
