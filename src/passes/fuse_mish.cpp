// SPDX-License-Identifier: Apache-2.0
// x * Tanh(Softplus(x)), as Mish is exported, becomes exMish: one element-wise function, which the chips look up, where
// three int8 values in a row would lose the small ones.
#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {

Result<size_t> fuse_mish(Graph& graph) {
  return rewrite(graph, chain("Softplus", "Tanh", "Mul").only_use().any_input(),
                 [](Match& m) -> Result<Rewrite> {
                   Value& x = m[2].input(1 - m.link(2));
                   if (&x != &m[0].input(0) || x.type() != m[2].output().type())
                     return Rewrite::kSkip;
                   return m.replace_with({"exMish", m[2].name(), {&x}, {""}, {}});
                 });
}

}  // namespace rk::passes
