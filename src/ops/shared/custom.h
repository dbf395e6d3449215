// SPDX-License-Identifier: Apache-2.0
// Operators that the user brings along: new ones, and own versions of standard ones. A graph that uses them is made with
// the registry of with_custom(); inference and evaluation then call the user's functions wherever a graph or a Program
// is inferred, folded, calibrated or run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/custom_op.h"
#include "ir/graph.h"

namespace rk::ops {

struct CustomOp {
  std::string type;  // as in the model file
  // Types of the outputs, as many as the node has. Called on any thread, like `compute`.
  std::function<Result<std::vector<TensorType>>(const Node& node, size_t output_count)> infer;
  // Fills the outputs, which have the inferred types.
  std::function<Status(const EvalCall& call)> compute;

  // Neither function: a standard operator that the device runs with code of the user's own.
  bool is_mark() const { return !infer && !compute; }
};

// The standard operators and these; it lives as long as a graph or a model uses it. kInvalidArgument for a type that is
// empty or given twice, for one function without the other, and for a mark on what is no standard operator.
Result<std::shared_ptr<const OpRegistry>> with_custom(std::vector<CustomOp> operators);

// The operator takes attributes as they come, so its nodes are imported as the model has them.
bool takes_any_attribute(const OpDef& def);

}  // namespace rk::ops
