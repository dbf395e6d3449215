// SPDX-License-Identifier: Apache-2.0
// An operator that maps int8 to int8 element by element is a table of 256 entries, computed with
// the operator's own float definition on the scales of both tensors. Operators with scalar
// constants (Mul by 2, Pow, Clip) are of that kind too.
#include <algorithm>

#include "base/fixed_point.h"
#include "compiler/emit.h"
#include "ops/shared/evaluate.h"

namespace rk::compiler {
namespace {

constexpr int kEntries = 256;

// Broadcasting operators with scalars for all but one operand work element by element. A view between two scales changes
// nothing but bytes.
bool works_by_element(const Node& node) {
  const Elements elements = node.def().elements;
  return elements == Elements::kUnary || elements == Elements::kBroadcast ||
         (elements == Elements::kView && node.input_count() == 1);
}

// The one input that varies; empty when the node is not a function of one element.
std::optional<size_t> varying_input(const Node& node) {
  if (node.output_count() != 1 || !works_by_element(node)) return std::nullopt;
  std::optional<size_t> varying;
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const Value& value = node.input(i);
    if (value.is_constant()) {
      if (value.shape().elements() != 1) return std::nullopt;
    } else if (varying) {
      return std::nullopt;
    } else {
      varying = i;
    }
  }
  if (!varying) return std::nullopt;
  const Value &x = node.input(*varying), &y = node.output();
  const bool mapped = x.shape() == y.shape() && is_i8(x) && is_i8(y) && x.dtype() == DType::kF32 &&
                      y.dtype() == DType::kF32;
  return mapped ? varying : std::nullopt;
}

// The node's function on all int8 inputs.
Result<std::vector<float>> evaluate(const Node& node, size_t varying, const Graph& source) {
  const Affine in = affine_of(node.input(varying));
  std::vector<float> x(kEntries);
  for (int i = 0; i < kEntries; ++i) {
    x[static_cast<size_t>(i)] = static_cast<float>(i - 128 - in.zero_point) * in.scale;
  }
  Graph graph(source.registry());
  NodeSpec spec{.op = std::string(node.op()), .name = node.name(), .outputs = {"y"}};
  spec.attrs = node.attrs();
  RK_ASSIGN(Value* const data, graph.add_input("x", {DType::kF32, {kEntries}}));
  const Tensor x_tensor = Tensor::f32({kEntries}, x);
  std::vector<const Tensor*> tensors;
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) {
      spec.inputs.push_back(nullptr);
      tensors.push_back(nullptr);
    } else if (i == varying) {
      spec.inputs.push_back(data);
      tensors.push_back(&x_tensor);
    } else {
      Value* const scalar =
          graph.add_constant(str("c", i), node.input(i).constant().reshaped(Shape{}));
      spec.inputs.push_back(scalar);
      tensors.push_back(&scalar->constant());
    }
  }
  RK_ASSIGN(Node* const copy, graph.add_node(std::move(spec)));
  RK_ASSIGN(const std::vector<Tensor> results, ops::evaluate_reference(*copy, tensors));
  return results.at(0).to_f32();
}

}  // namespace

Result<bool> emit_table(const Node& node, Builder& builder) {
  const auto varying = varying_input(node);
  if (!varying || !builder.may_use_integers(node)) return false;
  const auto y = evaluate(node, *varying, builder.graph());
  // An operator that does not take a row of values after all runs by its definition.
  if (!y.ok() || y->size() != kEntries) return false;
  const Affine out = affine_of(node.output());
  program::TableParams params{.function = std::string(node.op())};
  for (const float value : *y) {
    params.table.push_back(quantize_f32(value, out.scale, out.zero_point));
  }
  builder.add_step({.type = std::string(node.op()),
                    .name = str(node.op(), ":", node.name()),
                    .inputs = {builder.home(node.input(*varying))},
                    .outputs = {builder.home(node.output())},
                    .params = std::move(params)});
  return true;
}

}  // namespace rk::compiler
