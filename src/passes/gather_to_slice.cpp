// SPDX-License-Identifier: Apache-2.0
// Gather of one constant index, or of constant indices that follow each other, becomes a Slice (and
// a Reshape where the index has rank 0), which the NPU takes on every axis: q, k and v out of one
// tensor, the class token of a transformer.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// Where the run of indices starts; -1 where they are no run of existing elements.
int64_t start_of_run(std::vector<int64_t> indices, int64_t extent) {
  for (int64_t& index : indices) index += index < 0 ? extent : 0;
  if (indices.empty() || indices.front() < 0 || indices.back() >= extent) return -1;
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] != indices[i - 1] + 1) return -1;
  }
  return indices.front();
}

}  // namespace

Result<size_t> gather_to_slice(Graph& graph) {
  return rewrite(graph, chain("Gather"), [](Match& m) -> Result<Rewrite> {
    Graph& graph = m.graph();
    Value& x = m[0].input(0);
    const Value& indices = m[0].input(1);
    // Shapes are picked apart with Gather too; they fold, and integers gain nothing here.
    if (!indices.is_constant() || indices.shape().rank() > 1 || x.dtype() != DType::kF32 ||
        x.is_constant())
      return Rewrite::kSkip;
    const int64_t axis =
        m[0].i64("axis") < 0 ? m[0].i64("axis") + x.shape().rank() : m[0].i64("axis");
    const int64_t start =
        start_of_run(indices.constant().to_i64(), x.shape()[static_cast<int>(axis)]);
    if (start < 0) return Rewrite::kSkip;
    const auto number = [&](const char* name, int64_t value) {
      return graph.add_constant(m[0].name() + name, Tensor::i64({1}, {value}));
    };
    const NodeSpec slice{
        "Slice",
        m[0].name(),
        {&x, number("_start", start), number("_end", start + indices.shape().elements()),
         number("_axis", axis)},
        {""},
        {}};
    if (indices.shape().rank() == 1) return m.replace_with(slice);
    RK_ASSIGN(Node* const cut, graph.add_node(slice, &m[0]));
    const Shape out = m[0].output().shape();
    return m.replace_with(reshape_to(graph, m[0].name() + "_axes", &cut->output(), out));
  });
}

}  // namespace rk::passes
