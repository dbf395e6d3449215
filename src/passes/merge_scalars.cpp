// SPDX-License-Identifier: Apache-2.0
// Arithmetic with constants of one element: x / c becomes x * (1 / c) and x - c becomes x + (-c),
// which the NPU takes in int8 as well; then neighboring factors multiply and neighboring addends
// add up, a scalar with a larger constant too.
#include <cmath>

#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

Result<Rewrite> replace(Match& m, std::string op, Value* x, double scalar) {
  if (x->dtype() != DType::kF32 || x->type() != m.last().output().type()) return Rewrite::kSkip;
  Value* constant = m.graph().add_constant(m.last().name() + "_scalar",
                                           Tensor::scalar(static_cast<float>(scalar)));
  return m.replace_with({std::move(op), m.last().name(), {x, constant}, {""}, {}});
}

Result<Rewrite> respell(Match& m) {
  const auto scalar = scalar_of(m[0].input(1));
  if (!scalar) return Rewrite::kSkip;
  if (m[0].op() == "Sub") return replace(m, "Add", &m[0].input(0), -*scalar);
  // Where 1 / c overflows or c is 0 the division keeps its own meaning.
  if (!std::isnormal(1 / static_cast<float>(*scalar))) return Rewrite::kSkip;
  return replace(m, "Mul", &m[0].input(0), 1 / *scalar);
}

Result<Rewrite> merge(Match& m) {
  const auto first = scalar_operand(m[0]), second = scalar_operand(m[1]);
  if (!first || !second) return Rewrite::kSkip;
  const bool product = m[0].op() == "Mul";
  return replace(m, std::string(m[0].op()), first->other,
                 product ? first->scalar * second->scalar : first->scalar + second->scalar);
}

// The constant of more than one element of a Mul or Add; the other operand is computed.
Value* larger_constant(const Node& node) {
  for (const size_t i : {size_t{1}, size_t{0}}) {
    Value& constant = node.input(i);
    const bool fits = constant.is_constant() && constant.dtype() == DType::kF32 &&
                      constant.shape().elements() > 1 && !node.input(1 - i).is_constant();
    if (fits) return &constant;
  }
  return nullptr;
}

// One of the two has a scalar, the other a larger constant.
Result<Rewrite> absorb(Match& m) {
  for (const bool scalar_first : {true, false}) {
    const Node& with_scalar = scalar_first ? m[0] : m[1];
    const Node& with_larger = scalar_first ? m[1] : m[0];
    const auto scalar = scalar_operand(with_scalar);
    Value* const larger = larger_constant(with_larger);
    if (!scalar || larger == nullptr) continue;
    Value* const x = scalar_first ? scalar->other : &m[0].input(&m[0].input(0) == larger ? 1 : 0);
    // A scalar of a high rank would make the result larger.
    if (scalar->other->type() != with_scalar.output().type()) continue;
    const bool product = m[0].op() == "Mul";
    const auto factor = static_cast<float>(scalar->scalar);
    Tensor merged = larger->constant().clone();
    float* const values = merged.mutable_data<float>();
    for (int64_t i = 0; i < merged.elements(); ++i)
      values[i] = product ? values[i] * factor : values[i] + factor;
    Value* const constant = m.graph().add_constant(m.last().name() + "_merged", std::move(merged));
    return m.replace_with({std::string(m[0].op()), m.last().name(), {x, constant}, {""}, {}});
  }
  return Rewrite::kSkip;
}

}  // namespace

Result<size_t> merge_scalars(Graph& graph) {
  size_t total = 0;
  for (const std::string_view op : {"Sub", "Div"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(op), respell));
    total += changed;
  }
  for (const std::string_view op : {"Mul", "Add"}) {
    for (size_t changed = 1; changed > 0; total += changed) {
      RK_ASSIGN(changed, rewrite(graph, chain(op, op).only_use().any_input(), merge));
      RK_ASSIGN(const size_t absorbed,
                rewrite(graph, chain(op, op).only_use().any_input(), absorb));
      changed += absorbed;
    }
  }
  return total;
}

}  // namespace rk::passes
