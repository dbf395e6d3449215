// SPDX-License-Identifier: Apache-2.0
#include "passes/operands.h"

#include <algorithm>
#include <cmath>

namespace rk::passes {
namespace {

// Adds what the value stands for to the product.
void multiply(const Graph& graph, Value& value, bool may_look_through, Product& product) {
  if (const auto number = scalar_of(value)) {
    product.coefficient *= *number;
    return;
  }
  const Node* node = value.producer();
  const bool is_mul = node != nullptr && node->op() == "Mul";
  const bool is_div = node != nullptr && node->op() == "Div" && scalar_of(node->input(1)) &&
                      *scalar_of(node->input(1)) != 0;
  if (!may_look_through || !(is_mul || is_div)) {
    product.factors.push_back(&value);
    return;
  }
  const auto inner = [&](Value& operand) {
    multiply(graph, operand, read_once(graph, operand), product);
  };
  inner(node->input(0));
  if (is_mul) {
    inner(node->input(1));
  } else {
    product.coefficient /= *scalar_of(node->input(1));
  }
}

}  // namespace

std::optional<double> scalar_of(const Value& value) {
  if (!value.is_constant() || value.shape().elements() != 1 || !is_float(value.dtype()))
    return std::nullopt;
  return value.constant().at_f64(0);
}

bool is_near(double value, double wanted) {
  return std::fabs(value - wanted) <= 1e-4 * std::fabs(wanted);
}

bool is_scalar(const Value& value, double wanted) {
  const auto number = scalar_of(value);
  return number && is_near(*number, wanted);
}

const Node* from(const Value& value, std::string_view op) {
  const Node* node = value.producer();
  return node != nullptr && node->op() == op ? node : nullptr;
}

bool read_once(const Graph& graph, const Value& value) {
  return value.uses().size() == 1 && !graph.is_output(value);
}

const Node* only_from(const Graph& graph, const Value& value, std::string_view op) {
  return read_once(graph, value) ? from(value, op) : nullptr;
}

std::optional<ScalarOperand> scalar_operand(const Node& node) {
  for (size_t i = 0; i < 2; ++i) {
    if (const auto number = scalar_of(node.input(i)))
      return ScalarOperand{&node.input(1 - i), *number};
  }
  return std::nullopt;
}

Value* beside_scalar(const Node& node, double wanted) {
  const auto operand = scalar_operand(node);
  return operand && is_near(operand->scalar, wanted) ? operand->other : nullptr;
}

std::optional<Product> product_of(const Graph& graph, const Node& root) {
  Product out;
  multiply(graph, root.output(), true, out);
  if (out.factors.size() == 1 && out.factors[0] == &root.output()) return std::nullopt;
  return out;
}

Product product_of(const Graph& graph, Value& value) {
  Product out;
  multiply(graph, value, read_once(graph, value), out);
  return out;
}

std::optional<int> degree_in(const Graph& graph, const Product& product, const Value& x) {
  int degree = 0;
  for (const Value* factor : product.factors) {
    const Node* power = only_from(graph, *factor, "Pow");
    if (factor == &x) {
      ++degree;
    } else if (power != nullptr && &power->input(0) == &x &&
               (is_scalar(power->input(1), 2) || is_scalar(power->input(1), 3))) {
      degree += static_cast<int>(std::lround(*scalar_of(power->input(1))));
    } else {
      return std::nullopt;
    }
  }
  return degree;
}

std::optional<std::vector<int64_t>> reduced_axes(const Node& reduction) {
  const int rank = reduction.input(0).shape().rank();
  std::vector<int64_t> axes;
  if (reduction.has_input(1)) {
    if (!reduction.input(1).is_constant()) return std::nullopt;
    axes = reduction.input(1).constant().to_i64();
  }
  if (axes.empty()) {
    if (reduction.has_attr("noop_with_empty_axes") && reduction.i64("noop_with_empty_axes") != 0)
      return axes;
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  return axes;
}

NodeSpec reshape_to(Graph& graph, const std::string& name, Value* data, const Shape& shape) {
  Value* target = graph.add_constant(
      name + "_shape", Tensor::i64({shape.rank()}, {shape.dims().begin(), shape.dims().end()}));
  // allowzero: an extent of 0 means 0, not "copy from the input".
  return {"Reshape", name, {data, target}, {""}, {{"allowzero", int64_t{1}}}};
}

}  // namespace rk::passes
