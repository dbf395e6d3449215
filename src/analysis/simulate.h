// SPDX-License-Identifier: Apache-2.0
// Runs Programs for the analysis: whole, or a few nodes of a graph alone.
#pragma once

#include <functional>
#include <string>

#include "compiler/compile.h"
#include "runtime/session/session.h"

namespace rk::analysis {

// Sees every float tensor that a run stores, as float32.
using TensorSink = std::function<Status(const std::string& name, const Tensor& tensor)>;

Status simulate(std::shared_ptr<const runtime::LoadedModel> model,
                const std::vector<Tensor>& raw_inputs, const TensorSink& sink);
// `operators` knows the custom operators that the Program may run.
Status simulate(program::Program program, const OpRegistry& operators,
                const std::vector<Tensor>& raw_inputs, const TensorSink& sink);

// The nodes, in order, as a model of their own; `value_of` gives what they read of others.
Status simulate_alone(const Graph& graph, const std::vector<const Node*>& nodes,
                      const compiler::CompileOptions& compile,
                      const std::function<const Tensor&(const Value&)>& value_of,
                      const TensorSink& sink);

}  // namespace rk::analysis
