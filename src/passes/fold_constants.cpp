// SPDX-License-Identifier: Apache-2.0
// Nodes whose inputs are all constant, or whose result depends on types only, become constants.
#include "base/log.h"
#include "ops/shared/evaluate.h"
#include "passes/pipeline.h"

namespace rk::passes {

Result<size_t> fold_constants(Graph& graph) {
  size_t folded = 0;
  ops::FoldBudget budget;
  for (Node* node : graph.nodes()) {
    if (!ops::can_fold(*node)) continue;
    // A constant output of the graph keeps its node: the runtime must have something to compute it
    // with.
    bool is_output = false;
    for (const Value* output : node->outputs()) is_output |= graph.is_output(*output);
    if (is_output || !budget.take(*node)) continue;
    RK_ASSIGN(std::vector<Tensor> results, ops::fold(*node));
    for (size_t i = 0; i < results.size(); ++i) {
      Value* constant =
          graph.add_constant(node->output(i).name() + "_folded", std::move(results[i]));
      graph.replace_uses(&node->output(i), constant);
    }
    log(LogLevel::kDebug, str(node->label(), " is folded to a constant"));
    ++folded;
  }
  graph.remove_unused();
  return folded;
}

Result<size_t> remove_dead_code(Graph& graph) { return graph.remove_unused(); }

}  // namespace rk::passes
