// SPDX-License-Identifier: Apache-2.0
// GroupNormalization, which no chip has, becomes an InstanceNormalization over grouped channels
// between two Reshapes, as PyTorch exports it, with its own scale and bias behind.
#include "passes/normalization.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

Result<Rewrite> split(Match& m) {
  Graph& graph = m.graph();
  const Node& norm = m[0];
  const Shape full = norm.output().shape();
  const int64_t groups = norm.i64("num_groups");
  if (!norm.input(1).is_constant() || !norm.input(2).is_constant() || full.elements() == 0 ||
      norm.input(0).dtype() != DType::kF32)
    return Rewrite::kSkip;
  const auto add = [&](NodeSpec spec) { return graph.add_node(std::move(spec), &m[0]); };
  RK_ASSIGN(Node* const grouped,
            add(reshape_to(graph, norm.name() + "_groups", &norm.input(0),
                           {full[0], groups, full.elements() / full[0] / groups})));
  RK_ASSIGN(Node* const unit,
            add({"InstanceNormalization",
                 norm.name(),
                 {&grouped->output(), filled_constant(graph, norm.name() + "_ones", groups, 1),
                  filled_constant(graph, norm.name() + "_zeros", groups, 0)},
                 {""},
                 {{"epsilon", norm.f32("epsilon")}}}));
  RK_ASSIGN(Node* const back, add(reshape_to(graph, norm.name() + "_axes", &unit->output(), full)));
  std::vector<int64_t> dims(static_cast<size_t>(full.rank() - 1), 1);
  dims[0] = full[1];
  const auto parameter = [&](size_t i) {
    return graph.add_constant(norm.input(i).name(),
                              norm.input(i).constant().reshaped(*Shape::make(dims)));
  };
  RK_ASSIGN(Node* const scaled,
            add({"Mul", norm.name() + "_mul", {&back->output(), parameter(1)}, {""}, {}}));
  return m.replace_with({"Add", norm.name() + "_add", {&scaled->output(), parameter(2)}, {""}, {}});
}

}  // namespace

Result<size_t> split_group_norm(Graph& graph) {
  return rewrite(graph, chain("GroupNormalization"), split);
}

}  // namespace rk::passes
