// SPDX-License-Identifier: Apache-2.0
// The spellings of HardSigmoid(x) = clip(x + 3, 0, 6) / 6 and HardSwish(x) = x * HardSigmoid(x):
// with the division before, behind or inside the clip, as a product with 1/6, or around a
// HardSigmoid node.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool has_bounds(const Node& clip, double high) {
  return clip.has_input(1) && clip.has_input(2) && scalar_of(clip.input(1)) == 0.0 &&
         is_scalar(clip.input(2), high);
}

// `value` = factor * clip(x + 3, 0, 6); x is null where it is not.
struct Gate {
  Value* x = nullptr;
  double factor = 1;
};

Gate gate_of(const Graph& graph, const Value& value) {
  if (const Node* node = from(value, "HardSigmoid")) {
    const bool standard = is_near(node->f32("alpha"), 1.0 / 6) && is_near(node->f32("beta"), 0.5);
    return standard ? Gate{&node->input(0), 1.0 / 6} : Gate{};
  }
  const Node* clip = from(value, "Clip");
  if (clip == nullptr) return {};
  const Node* sum = only_from(graph, clip->input(0), "Add");
  if (sum == nullptr) return {};
  if (has_bounds(*clip, 6)) return {beside_scalar(*sum, 3), 1};
  if (!has_bounds(*clip, 1)) return {};
  Value* sixth = beside_scalar(*sum, 0.5);
  if (sixth == nullptr || !read_once(graph, *sixth)) return {};
  const Product scaled = product_of(graph, *sixth);
  const bool matches = scaled.factors.size() == 1 && is_near(scaled.coefficient, 1.0 / 6);
  return matches ? Gate{scaled.factors[0], 1.0 / 6} : Gate{};
}

Result<Rewrite> fuse(Match& m, std::string op, Value* x, AttrMap attrs) {
  if (x == nullptr || x->type() != m.last().output().type()) return Rewrite::kSkip;
  return m.replace_with({std::move(op), m.last().name(), {x}, {""}, std::move(attrs)});
}

AttrMap hard_sigmoid_attrs() { return {{"alpha", 1.0f / 6}, {"beta", 0.5f}}; }

// The product of a Mul or Div is x times a gate (HardSwish), or a gate alone (HardSigmoid).
Result<Rewrite> fuse_product(Match& m) {
  const auto product = product_of(m.graph(), m[0]);
  if (!product || product->factors.empty() || product->factors.size() > 2) return Rewrite::kSkip;
  const std::vector<Value*>& factors = product->factors;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!read_once(m.graph(), *factors[i])) continue;
    const Gate gate = gate_of(m.graph(), *factors[i]);
    if (gate.x == nullptr || !is_near(product->coefficient * gate.factor, 1.0 / 6)) continue;
    if (factors.size() == 1) return fuse(m, "HardSigmoid", gate.x, hard_sigmoid_attrs());
    if (factors[1 - i] == gate.x) return fuse(m, "HardSwish", gate.x, {});
  }
  return Rewrite::kSkip;
}

}  // namespace

Result<size_t> fuse_hard_swish(Graph& graph) {
  size_t total = 0;
  for (const std::string_view op : {"Mul", "Div"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(op), fuse_product));
    total += changed;
  }
  RK_ASSIGN(const size_t alone, rewrite(graph, chain("Clip"), [](Match& m) -> Result<Rewrite> {
              const Gate gate = gate_of(m.graph(), m[0].output());
              if (!is_near(gate.factor, 1.0 / 6)) return Rewrite::kSkip;
              return fuse(m, "HardSigmoid", gate.x, hard_sigmoid_attrs());
            }));
  return total + alone;
}

}  // namespace rk::passes
