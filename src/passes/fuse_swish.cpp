// SPDX-License-Identifier: Apache-2.0
// x * Sigmoid(beta * x), as SiLU and Swish are exported, becomes exSwish: one element-wise function
// and so one int8 table, where the product of two int8 values would lose the small ones.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {

Result<size_t> fuse_swish(Graph& graph) {
  return rewrite(graph, chain("Sigmoid", "Mul").only_use().any_input(),
                 [](Match& m) -> Result<Rewrite> {
                   Value& x = m[1].input(1 - m.link(1));
                   if (x.type() != m[1].output().type()) return Rewrite::kSkip;
                   double beta = 1;
                   Value& inside = m[0].input(0);
                   if (&inside != &x) {
                     const Product scaled = product_of(m.graph(), inside);
                     if (scaled.factors != std::vector<Value*>{&x}) return Rewrite::kSkip;
                     beta = scaled.coefficient;
                   }
                   return m.replace_with(
                       {"exSwish", m[1].name(), {&x}, {""}, {{"beta", static_cast<float>(beta)}}});
                 });
}

}  // namespace rk::passes
