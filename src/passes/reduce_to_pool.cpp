// SPDX-License-Identifier: Apache-2.0
// The other spellings of a global pool: ReduceMean or ReduceMax over height and width, and an
// AveragePool whose window is the whole picture. The NPU has global pools but no reductions.
#include "ir/rewrite.h"
#include "ops/shared/pool.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// Puts the pool, and a Reshape where the reduction dropped its axes, in the place of the match.
Result<Rewrite> replace_with_pool(Match& m, const std::string& op) {
  const Shape out = m[0].output().shape();
  NodeSpec pool{op, m[0].name(), {&m[0].input(0)}, {""}, {}};
  if (out.rank() == 4) return m.replace_with(std::move(pool));
  RK_ASSIGN(Node* const node, m.graph().add_node(std::move(pool), &m[0]));
  return m.replace_with(reshape_to(m.graph(), m[0].name() + "_axes", &node->output(), out));
}

Result<Rewrite> replace_reduction(Match& m) {
  const Value& x = m[0].input(0);
  const auto axes = reduced_axes(m[0]);
  if (x.shape().rank() != 4 || x.dtype() != DType::kF32 || !axes ||
      *axes != std::vector<int64_t>{2, 3})
    return Rewrite::kSkip;
  return replace_with_pool(m, m[0].op() == "ReduceMean" ? "GlobalAveragePool" : "GlobalMaxPool");
}

Result<Rewrite> replace_whole_window(Match& m) {
  const Shape& in = m[0].input(0).shape();
  if (in.rank() != 4) return Rewrite::kSkip;
  const ops::Window window = ops::pool_attrs(m[0]).window;
  const bool padded = window.pads.top != 0 || window.pads.left != 0 || window.pads.bottom != 0 ||
                      window.pads.right != 0;
  const bool whole = window.kernel.h == in[2] && window.kernel.w == in[3] &&
                     window.dilation.h == 1 && window.dilation.w == 1;
  const Shape& out = m[0].output().shape();
  if (padded || !whole || out[2] != 1 || out[3] != 1) return Rewrite::kSkip;
  return replace_with_pool(m, "GlobalAveragePool");
}

}  // namespace

Result<size_t> reduce_to_pool(Graph& graph) {
  RK_ASSIGN(size_t total, rewrite(graph, chain("AveragePool"), replace_whole_window));
  for (const std::string_view op : {"ReduceMean", "ReduceMax"}) {
    RK_ASSIGN(const size_t changed, rewrite(graph, chain(op), replace_reduction));
    total += changed;
  }
  return total;
}

}  // namespace rk::passes
