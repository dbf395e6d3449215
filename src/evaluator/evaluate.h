// SPDX-License-Identifier: Apache-2.0
// The one float evaluator of graphs: constant folding, calibration and the golden side of accuracy analysis run here.
// Programs are run by runtime/, not here.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace rk::evaluator {

// One node, with a fast float kernel where select.cpp has one, else with the operator's reference.
Status evaluate_node(const EvalCall& call);

struct EvaluateOptions {
  ThreadPool* pool = nullptr;
  // Sees every input and every computed value once, in execution order, before it may be released, and its range where
  // that is known already.
  std::function<Status(const Value&, const Tensor&, const FiniteRange&)> observer;
};

// Inputs and outputs in the graph's order. Values are released after their last use, so memory follows the widest
// point of the graph and not its sum.
Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                                     const EvaluateOptions& options = {});

}  // namespace rk::evaluator
