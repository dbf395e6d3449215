// SPDX-License-Identifier: Apache-2.0
// Reshape clean-up: one spelling for all operators that only change the shape, and one Reshape per
// chain.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {

Result<size_t> canonicalize_reshapes(Graph& graph) {
  size_t count = 0;
  for (const std::string_view op : {"Flatten", "Squeeze", "Unsqueeze"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(op), [](Match& m) {
                const Shape shape = m[0].output().shape();
                return m.replace_with(reshape_to(m.graph(), m[0].name(), &m[0].input(0), shape));
              }));
    count += changed;
  }
  return count;
}

Result<size_t> merge_reshapes(Graph& graph) {
  size_t total = 0;
  for (;;) {
    RK_ASSIGN(
        const size_t changed,
        rewrite(graph, chain("Reshape", "Reshape").only_use(), [](Match& m) -> Result<Rewrite> {
          const Shape shape = m[1].output().shape();
          if (m.graph().can_replace(m[1].output(), m[0].input(0)))
            return m.replace_with(m[0].input(0));
          return m.replace_with(reshape_to(m.graph(), m[1].name(), &m[0].input(0), shape));
        }));
    total += changed;
    if (changed == 0) return total;
  }
}

Result<size_t> remove_border_reshapes(Graph& graph) {
  size_t removed = 0;
  // At an output: the Reshape's input takes over the output's place and name.
  for (Node* node : graph.nodes()) {
    if (node->op() != "Reshape" || !graph.is_output(node->output()) ||
        !node->output().uses().empty())
      continue;
    Value& inner = node->input(0);
    if (inner.producer() == nullptr || graph.is_output(inner)) continue;
    const std::string name = node->output().name();
    std::vector<Value*> outputs = graph.outputs();
    for (Value*& output : outputs) {
      if (output == &node->output()) output = &inner;
    }
    graph.set_outputs(std::move(outputs));
    graph.remove(node);
    graph.rename(&inner, name);
    ++removed;
  }
  // At an input: a new input of the reshaped type replaces the old one.
  for (Value* input : std::vector<Value*>(graph.inputs())) {
    if (input->uses().size() != 1 || graph.is_output(*input)) continue;
    Node* node = input->uses().front().node;
    if (node->op() != "Reshape" || graph.is_output(node->output())) continue;
    RK_TRY(graph.replace_input(input, &node->output()));
    ++removed;
  }
  graph.remove_unused();
  return removed;
}

}  // namespace rk::passes
