// SPDX-License-Identifier: Apache-2.0
// The seven nodes exporters write for layer normalization become one LayerNormalization, whose
// insides are then never held in int8:
//   d = x - ReduceMean(x);  y = d / Sqrt(ReduceMean(d ^ 2) + epsilon) [* scale] [+ bias]
#include "passes/normalization.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

Result<Rewrite> fuse_parts(Match& m) {
  const Graph& graph = m.graph();
  const Value& difference = m[0].input(0);
  const auto root = root_mean_square(graph, m[0].input(1));
  if (!root || root->x != &difference || graph.is_output(difference)) return Rewrite::kSkip;
  Value* x = centered(difference, root->axes);
  const int axis = first_of_last_axes(root->axes, difference.shape().rank());
  if (x == nullptr || axis < 0 || x->type() != m[0].output().type() || x->dtype() != DType::kF32)
    return Rewrite::kSkip;
  Value* scale =
      filled_constant(m.graph(), m[0].name() + "_scale", x->shape()[x->shape().rank() - 1], 1);
  return m.replace_with({"LayerNormalization",
                         m[0].name(),
                         {x, scale},
                         {""},
                         {{"axis", int64_t{axis}}, {"epsilon", root->epsilon}}});
}

// The affine part: only onto what was made above or stood there without a parameter of its own.
Result<Rewrite> fuse_parameter(Match& m) {
  const Node& norm = m[0];
  const int64_t given = norm.i64("axis");
  const int axis = static_cast<int>(given < 0 ? given + norm.input(0).shape().rank() : given);
  Value& parameter = m[1].input(1 - m.link(1));
  if (norm.has_input(2) || norm.output_count() != 1 ||
      !is_parameter(parameter, norm.output(), axis))
    return Rewrite::kSkip;
  std::vector<Value*> inputs = {&norm.input(0), &norm.input(1), &parameter};
  if (m[1].op() == "Mul") {
    if (!is_all(norm.input(1), 1)) return Rewrite::kSkip;
    inputs = {&norm.input(0), &parameter};
  }
  return m.replace_with({"LayerNormalization", norm.name(), std::move(inputs), {""}, norm.attrs()});
}

}  // namespace

Result<size_t> fuse_layer_norm(Graph& graph) {
  RK_ASSIGN(size_t total, rewrite(graph, chain("Div"), fuse_parts));
  for (const std::string_view op : {"Mul", "Add"}) {
    RK_ASSIGN(
        const size_t changed,
        rewrite(graph, chain("LayerNormalization", op).only_use().any_input(), fuse_parameter));
    total += changed;
  }
  return total;
}

}  // namespace rk::passes
