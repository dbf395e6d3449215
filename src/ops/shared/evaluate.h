// SPDX-License-Identifier: Apache-2.0
// Evaluating one node with its reference, and folding nodes whose results are known before the
// model runs. The importer and constant folding use this; whole graphs are run by exec/.
#pragma once

#include "ir/graph.h"

namespace rk::ops {

// `inputs` as in EvalCall: null where an optional input is absent. Failures name the node.
Result<std::vector<Tensor>> evaluate_reference(const Node& node,
                                               std::span<const Tensor* const> inputs,
                                               ThreadPool* pool = nullptr);

// All inputs are constants (or the operator looks at types only) and the results are of a size
// worth keeping.
bool can_fold(const Node& node);
// The node's outputs; can_fold(node) must hold.
Result<std::vector<Tensor>> fold(const Node& node);

}  // namespace rk::ops
