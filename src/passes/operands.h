// SPDX-License-Identifier: Apache-2.0
// What passes ask about the operands of a node they look at: constants of one element, products,
// producers that nobody else reads. Exporters round their constants differently, so numbers are
// compared within 1e-4.
//
// Note: a constant of one element need not have rank 0. [1,1,1,1,1] makes the
// result's rank larger, so a pass still compares the type it puts in place with the type it
// replaces.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace rk::passes {

// The number, where the value is a constant of one element.
std::optional<double> scalar_of(const Value& value);
bool is_near(double value, double wanted);
bool is_scalar(const Value& value, double wanted);

// The producer, if it is `op`.
const Node* from(const Value& value, std::string_view op);
// The same, if nobody but one node reads the value and it is not an output of the graph.
const Node* only_from(const Graph& graph, const Value& value, std::string_view op);
bool read_once(const Graph& graph, const Value& value);

// The operand beside a constant of one element near `wanted`; null where there is none.
Value* beside_scalar(const Node& node, double wanted);
struct ScalarOperand {
  Value* other = nullptr;
  double scalar = 0;
};
std::optional<ScalarOperand> scalar_operand(const Node& node);

// coefficient * product of factors, looked through Mul and division by a constant of one element
// where nobody else reads what lies between. `root` is a Mul or a Div; empty where it divides by
// something else.
struct Product {
  double coefficient = 1;
  std::vector<Value*> factors;
};
std::optional<Product> product_of(const Graph& graph, const Node& root);
// The product a value stands for: itself alone where nothing can be looked through.
Product product_of(const Graph& graph, Value& value);

// The degree n where the product's factors are n times x, counting Pow(x, n) as n; nothing where
// another factor is in it.
std::optional<int> degree_in(const Graph& graph, const Product& product, const Value& x);

// The axes a reduction takes, 0..rank-1 in order; nothing where they are computed at run time.
std::optional<std::vector<int64_t>> reduced_axes(const Node& reduction);

// A Reshape of `data` to `shape`; the node has the name and stands where `like` is replaced.
NodeSpec reshape_to(Graph& graph, const std::string& name, Value* data, const Shape& shape);

}  // namespace rk::passes
