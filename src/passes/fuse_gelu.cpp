// SPDX-License-Identifier: Apache-2.0
// x * 0.5 * (1 + Erf(x / sqrt 2)), in the orders exporters write the factors, becomes exGelu: one element-wise function
// and so one int8 table.
#include <cmath>

#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

constexpr double kSqrt2 = 1.41421356237309515;

bool is_near(const Value& value, double wanted) {
  return value.is_constant() && value.shape().elements() == 1 &&
         std::fabs(value.constant().at_f64(0) - wanted) < 1e-4 * wanted;
}

// The other operand of a two-input node one of whose operands is the constant; null where there is none.
Value* other_than_constant(const Node& node, double constant) {
  for (size_t i = 0; i < 2; ++i) {
    if (is_near(node.input(i), constant)) return &node.input(1 - i);
  }
  return nullptr;
}

// x, where `value` is 1 + Erf(x / sqrt 2).
Value* inside_of(const Value& value) {
  const Node* add = value.producer();
  if (add == nullptr || add->op() != "Add") return nullptr;
  const Value* erf_value = other_than_constant(*add, 1);
  const Node* erf = erf_value == nullptr ? nullptr : erf_value->producer();
  if (erf == nullptr || erf->op() != "Erf") return nullptr;
  const Node* scaled = erf->input(0).producer();
  if (scaled == nullptr) return nullptr;
  if (scaled->op() == "Div" && is_near(scaled->input(1), kSqrt2)) return &scaled->input(0);
  if (scaled->op() == "Mul") return other_than_constant(*scaled, 1 / kSqrt2);
  return nullptr;
}

// The factors of a product of up to three, in any nesting.
std::vector<Value*> factors(const Node& mul) {
  std::vector<Value*> out;
  for (Value* input : mul.inputs()) {
    const Node* inner = input->producer();
    if (inner != nullptr && inner->op() == "Mul" && input->uses().size() == 1 && out.size() < 2) {
      out.push_back(&inner->input(0));
      out.push_back(&inner->input(1));
    } else {
      out.push_back(input);
    }
  }
  return out;
}

// x, when the factors are x, 0.5 and 1 + Erf(x / sqrt 2).
Value* gelu_input(const Node& mul) {
  const std::vector<Value*> parts = factors(mul);
  if (parts.size() != 3) return nullptr;
  for (size_t e = 0; e < 3; ++e) {
    Value* x = inside_of(*parts[e]);
    if (x == nullptr) continue;
    Value* first = parts[(e + 1) % 3];
    Value* second = parts[(e + 2) % 3];
    if ((first == x && is_near(*second, 0.5)) || (second == x && is_near(*first, 0.5))) return x;
  }
  return nullptr;
}

}  // namespace

Result<size_t> fuse_gelu(Graph& graph) {
  return rewrite(graph, chain("Mul"), [](Match& m) -> Result<Rewrite> {
    Value* x = gelu_input(m[0]);
    if (x == nullptr || x->type() != m[0].output().type()) return Rewrite::kSkip;
    return m.replace_with({"exGelu", m[0].name(), {x}, {""}, {}});
  });
}

}  // namespace rk::passes
