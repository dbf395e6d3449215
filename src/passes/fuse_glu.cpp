// SPDX-License-Identifier: Apache-2.0
// Split into halves, Sigmoid of the second, Mul: the gated linear unit becomes exGlu.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {

Result<size_t> fuse_glu(Graph& graph) {
  return rewrite(
      graph, chain("Sigmoid", "Mul").only_use().any_input(), [](Match& m) -> Result<Rewrite> {
        const Value& data = m[1].input(1 - m.link(1));
        const Value& gate = m[0].input(0);
        const Node* split = only_from(m.graph(), data, "Split");
        if (split == nullptr || split->output_count() != 2 ||
            only_from(m.graph(), gate, "Split") != split || &split->output(0) != &data)
          return Rewrite::kSkip;
        if (data.shape() != gate.shape()) return Rewrite::kSkip;
        return m.replace_with(
            {"exGlu", m[1].name(), {&split->input(0)}, {""}, {{"axis", split->i64("axis")}}});
      });
}

}  // namespace rk::passes
