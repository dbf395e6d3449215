// SPDX-License-Identifier: Apache-2.0
// Softmax between two Transposes that undo each other is one along another axis, as in vendor files:
// exporters bring channels to the end for it.
#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {

Result<size_t> swap_softmax(Graph& graph) {
  const Chain pattern = chain("Transpose", "Softmax", "Transpose").only_use();
  return rewrite(graph, pattern, [](Match& m) -> Result<Rewrite> {
    const Value& x = m[0].input(0);
    if (!m[0].has_attr("perm") || !m[2].has_attr("perm")) return Rewrite::kSkip;
    const std::vector<int64_t>&there = m[0].ints("perm"), &back = m[2].ints("perm");
    const auto rank = static_cast<size_t>(x.shape().rank());
    if (there.size() != rank || back.size() != rank) return Rewrite::kSkip;
    for (size_t i = 0; i < rank; ++i) {
      if (there[static_cast<size_t>(back[i])] != static_cast<int64_t>(i)) return Rewrite::kSkip;
    }
    const int64_t axis = there[static_cast<size_t>(m[1].i64("axis"))];
    return m.replace_with({"Softmax", m[1].name(), {&m[0].input(0)}, {""}, {{"axis", axis}}});
  });
}

}  // namespace rk::passes
