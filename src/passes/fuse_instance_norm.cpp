// SPDX-License-Identifier: Apache-2.0
// Instance normalization written in parts, and the per-channel scale and bias behind it, become one
// InstanceNormalization:
//   d = x - ReduceMean(x, H W);  y = d / Sqrt(ReduceMean(d ^ 2, H W) + epsilon) [* scale] [+ bias]
#include "passes/normalization.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

Result<Rewrite> fuse_parts(Match& m) {
  Graph& graph = m.graph();
  const Value& difference = m[0].input(0);
  const auto root = root_mean_square(graph, m[0].input(1));
  if (!root || root->x != &difference || graph.is_output(difference)) return Rewrite::kSkip;
  Value* x = centered(difference, root->axes);
  const int rank = difference.shape().rank();
  if (x == nullptr || rank < 3 || first_of_last_axes(root->axes, rank) != 2 ||
      x->type() != m[0].output().type() || x->dtype() != DType::kF32)
    return Rewrite::kSkip;
  const int64_t channels = x->shape()[1];
  return m.replace_with({"InstanceNormalization",
                         m[0].name(),
                         {x, filled_constant(graph, m[0].name() + "_scale", channels, 1),
                          filled_constant(graph, m[0].name() + "_bias", channels, 0)},
                         {""},
                         {{"epsilon", root->epsilon}}});
}

// One constant per channel of [N,C,...], or one for all.
Value* per_channel(Graph& graph, const Value& parameter, const Value& normalized) {
  const Shape& full = normalized.shape();
  const int64_t channels = full[1];
  if (!is_parameter(parameter, normalized, 0)) return nullptr;
  if (const auto number = scalar_of(parameter))
    return filled_constant(graph, parameter.name(), channels, static_cast<float>(*number));
  const int axis = 1 - (full.rank() - parameter.shape().rank());
  if (axis < 0 || parameter.shape()[axis] != channels || parameter.shape().elements() != channels)
    return nullptr;
  return graph.add_constant(parameter.name(), parameter.constant().reshaped({channels}));
}

Result<Rewrite> fuse_parameter(Match& m) {
  const Node& norm = m[0];
  const bool is_scale = m[1].op() == "Mul";
  if (!is_all(norm.input(2), 0) || (is_scale && !is_all(norm.input(1), 1))) return Rewrite::kSkip;
  Value* parameter = per_channel(m.graph(), m[1].input(1 - m.link(1)), norm.output());
  if (parameter == nullptr) return Rewrite::kSkip;
  std::vector<Value*> inputs = norm.inputs();
  inputs[is_scale ? 1 : 2] = parameter;
  return m.replace_with(
      {"InstanceNormalization", norm.name(), std::move(inputs), {""}, norm.attrs()});
}

}  // namespace

Result<size_t> fuse_instance_norm(Graph& graph) {
  RK_ASSIGN(size_t total, rewrite(graph, chain("Div"), fuse_parts));
  for (const std::string_view op : {"Mul", "Add"}) {
    RK_ASSIGN(
        const size_t changed,
        rewrite(graph, chain("InstanceNormalization", op).only_use().any_input(), fuse_parameter));
    total += changed;
  }
  return total;
}

}  // namespace rk::passes
