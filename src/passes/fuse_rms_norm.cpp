// SPDX-License-Identifier: Apache-2.0
// x / Sqrt(ReduceMean(x ^ 2) + epsilon) [* scale], as language models are exported, becomes
// RMSNormalization. The reciprocal root is spelled Reciprocal(Sqrt), 1 / Sqrt or Pow(-0.5), or x is
// divided by the root.
#include "passes/normalization.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// What lies under the root where `value` is its reciprocal.
std::optional<RootMeanSquare> reciprocal_root(const Graph& graph, const Value& value) {
  if (const Node* node = only_from(graph, value, "Reciprocal"))
    return root_mean_square(graph, node->input(0));
  if (const Node* node = only_from(graph, value, "Div")) {
    return is_scalar(node->input(0), 1) ? root_mean_square(graph, node->input(1)) : std::nullopt;
  }
  const Node* power = only_from(graph, value, "Pow");
  if (power == nullptr || !is_scalar(power->input(1), -0.5)) return std::nullopt;
  return mean_square(graph, power->input(0));
}

Result<Rewrite> fuse_parts(Match& m, const std::optional<RootMeanSquare>& root, Value& x) {
  if (!root || root->x != &x || x.dtype() != DType::kF32 || x.type() != m[0].output().type())
    return Rewrite::kSkip;
  const int axis = first_of_last_axes(root->axes, x.shape().rank());
  if (axis < 0) return Rewrite::kSkip;
  Value* scale =
      filled_constant(m.graph(), m[0].name() + "_scale", x.shape()[x.shape().rank() - 1], 1);
  return m.replace_with({"RMSNormalization",
                         m[0].name(),
                         {&x, scale},
                         {""},
                         {{"axis", int64_t{axis}}, {"epsilon", root->epsilon}}});
}

}  // namespace

Result<size_t> fuse_rms_norm(Graph& graph) {
  RK_ASSIGN(const size_t divided, rewrite(graph, chain("Div"), [](Match& m) {
              return fuse_parts(m, root_mean_square(m.graph(), m[0].input(1)), m[0].input(0));
            }));
  RK_ASSIGN(const size_t multiplied, rewrite(graph, chain("Mul"), [](Match& m) -> Result<Rewrite> {
              for (size_t i = 0; i < 2; ++i) {
                const auto root = reciprocal_root(m.graph(), m[0].input(i));
                if (root) return fuse_parts(m, root, m[0].input(1 - i));
              }
              return Rewrite::kSkip;
            }));
  RK_ASSIGN(
      const size_t scaled,
      rewrite(
          graph, chain("RMSNormalization", "Mul").only_use().any_input(),
          [](Match& m) -> Result<Rewrite> {
            Value& scale = m[1].input(1 - m.link(1));
            const int axis = static_cast<int>(m[0].i64("axis"));
            if (!is_all(m[0].input(1), 1) || axis < 0 || !is_parameter(scale, m[0].output(), axis))
              return Rewrite::kSkip;
            return m.replace_with(
                {"RMSNormalization", m[0].name(), {&m[0].input(0), &scale}, {""}, m[0].attrs()});
          }));
  return divided + multiplied + scaled;
}

}  // namespace rk::passes
