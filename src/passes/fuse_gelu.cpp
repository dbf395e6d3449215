// SPDX-License-Identifier: Apache-2.0
// x * 0.5 * (1 + Erf(x / sqrt 2)), and its approximation x * 0.5 * (1 + Tanh(sqrt(2 / pi) * (x +
// 0.044715 x^3))), in the orders exporters write the factors, become exGelu: one element-wise
// function and so one int8 table.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752;
constexpr double kSqrtTwoByPi = 0.79788456080286536;
constexpr double kCubic = 0.044715;

bool is_multiple(const Graph& graph, const Product& product, const Value& x, double coefficient,
                 int degree) {
  return is_near(product.coefficient, coefficient) && degree_in(graph, product, x) == degree;
}

// `sum` = low + high, where one is `lowest` and the other kCubic * x^degree.
bool is_cubic_sum(const Graph& graph, const Value& sum, const Value& x, int degree,
                  const std::function<bool(const Value&)>& is_lowest) {
  const Node* add = only_from(graph, sum, "Add");
  if (add == nullptr) return false;
  for (size_t i = 0; i < 2; ++i) {
    if (is_lowest(add->input(i)) &&
        is_multiple(graph, product_of(graph, add->input(1 - i)), x, kCubic, degree))
      return true;
  }
  return false;
}

// sqrt(2 / pi) * (x + 0.044715 x^3), or the same with x taken out of the sum.
bool is_tanh_argument(const Graph& graph, const Product& argument, const Value& x) {
  if (!is_near(argument.coefficient, kSqrtTwoByPi)) return false;
  const std::vector<Value*>& factors = argument.factors;
  if (factors.size() == 1) {
    return is_cubic_sum(graph, *factors[0], x, 3, [&](const Value& v) { return &v == &x; });
  }
  if (factors.size() != 2 || (factors[0] != &x && factors[1] != &x)) return false;
  const Value& sum = *factors[factors[0] == &x ? 1 : 0];
  return is_cubic_sum(graph, sum, x, 2, [](const Value& v) { return is_scalar(v, 1); });
}

// "none" or "tanh" where `gate` is 1 + the form's function of x; null otherwise.
const char* form_of(const Graph& graph, const Value& gate, const Value& x) {
  const Node* add = only_from(graph, gate, "Add");
  Value* function = add == nullptr ? nullptr : beside_scalar(*add, 1);
  if (function == nullptr) return nullptr;
  if (const Node* erf = only_from(graph, *function, "Erf")) {
    const Product argument = product_of(graph, erf->input(0));
    return is_multiple(graph, argument, x, kSqrtHalf, 1) ? "none" : nullptr;
  }
  const Node* tanh = only_from(graph, *function, "Tanh");
  if (tanh == nullptr) return nullptr;
  return is_tanh_argument(graph, product_of(graph, tanh->input(0)), x) ? "tanh" : nullptr;
}

}  // namespace

Result<size_t> fuse_gelu(Graph& graph) {
  size_t total = 0;
  for (const std::string_view op : {"Mul", "Div"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(op), [](Match& m) -> Result<Rewrite> {
                const auto product = product_of(m.graph(), m[0]);
                if (!product || product->factors.size() != 2 || !is_near(product->coefficient, 0.5))
                  return Rewrite::kSkip;
                for (size_t i = 0; i < 2; ++i) {
                  Value* x = product->factors[i];
                  const char* form = form_of(m.graph(), *product->factors[1 - i], *x);
                  if (form == nullptr || x->type() != m[0].output().type()) continue;
                  return m.replace_with(
                      {"exGelu", m[0].name(), {x}, {""}, {{"approximate", std::string(form)}}});
                }
                return Rewrite::kSkip;
              }));
    total += changed;
  }
  return total;
}

}  // namespace rk::passes
