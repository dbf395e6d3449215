// SPDX-License-Identifier: Apache-2.0
// Evaluating one node with its reference, and folding nodes whose results are known before the
// model runs. The importer and constant folding use this; whole graphs are run by exec/.
#pragma once

#include "base/model_budget.h"
#include "ir/graph.h"

namespace rk::ops {

// `inputs` as in EvalCall: null where an optional input is absent. Failures name the node.
Result<std::vector<Tensor>> evaluate_reference(const Node& node,
                                               std::span<const Tensor* const> inputs,
                                               ThreadPool* pool = nullptr);

// All inputs are constants (or the operator looks at types only) and the results are of a size
// worth keeping.
bool can_fold(const Node& node);
// What folding one graph may still take (base/model_budget.h). A small file can describe a huge constant or much work
// for a small one; such nodes are left to be computed when the model runs.
class FoldBudget {
 public:
  // False: the node is beyond it, and nothing was taken. can_fold(node) must hold.
  bool take(const Node& node);

 private:
  uint64_t bytes_ = budget::kFoldedBytes;
  uint64_t operations_ = budget::kFoldedOperations;
};

// The node's outputs; can_fold(node) must hold.
Result<std::vector<Tensor>> fold(const Node& node);

}  // namespace rk::ops
