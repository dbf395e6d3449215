// SPDX-License-Identifier: Apache-2.0
// Moves of whole planes stay moves of pictures. A channel shuffle that gives its halves apart is written as
// Reshape [C/2,2,H*W] - Transpose [1,0,2] - Reshape [2,1,C/2,H,W] - two Gathers: ranks that the NPU does not move. With
// four axes throughout it does: Reshape [C/2,2,H,W] - Transpose [1,0,2,3] - two Slices of the batch.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// The last axis of the rank 3 between is a plane of the picture before: it becomes the plane's two axes.
Result<Rewrite> keep_planes(Match& m) {
  const Shape& in = m[0].input(0).shape();
  const Shape& rows = m[0].output().shape();
  if (in.rank() != 4 || rows.rank() != 3 || rows[2] != in[2] * in[3] || !m[1].has_attr("perm") ||
      m[1].ints("perm") != std::vector<int64_t>{1, 0, 2})
    return Rewrite::kSkip;
  Graph& graph = m.graph();
  const Shape picture = {rows[0], rows[1], in[2], in[3]};
  const Shape out = m[2].output().shape();
  RK_ASSIGN(
      Node* const cut,
      graph.add_node(reshape_to(graph, m[0].name() + "_planes", &m[0].input(0), picture), &m[2]));
  RK_ASSIGN(Node* const moved, graph.add_node({"Transpose",
                                               m[1].name() + "_planes",
                                               {&cut->output()},
                                               {""},
                                               {{"perm", std::vector<int64_t>{1, 0, 2, 3}}}},
                                              &m[2]));
  return m.replace_with(reshape_to(graph, m[2].name(), &moved->output(), out));
}

bool cuts_first_axis(const Node& slice) {
  for (size_t i = 1; i < slice.input_count(); ++i)
    if (slice.has_input(i) && !slice.input(i).is_constant()) return false;
  if (!slice.has_input(3)) return slice.input(1).shape().elements() == 1;
  return slice.input(3).constant().to_i64() == std::vector<int64_t>{0};
}

// Where a Reshape leaves the first axis alone, a part of it can be taken before.
Result<Rewrite> slice_first(Match& m) {
  Value& x = m[0].input(0);
  const Shape& wide = m[0].output().shape();
  if (x.shape().rank() != 4 || wide.rank() < 5 || x.shape()[0] != wide[0] || !cuts_first_axis(m[1]))
    return Rewrite::kSkip;
  std::vector<Value*> inputs = {&x};
  for (size_t i = 1; i < m[1].input_count(); ++i)
    inputs.push_back(m[1].has_input(i) ? &m[1].input(i) : nullptr);
  const Shape out = m[1].output().shape();
  Graph& graph = m.graph();
  RK_ASSIGN(Node* const part,
            graph.add_node({"Slice", m[1].name() + "_picture", inputs, {""}, {}}, &m[1]));
  return m.replace_with(reshape_to(graph, m[1].name(), &part->output(), out));
}

}  // namespace

Result<size_t> picture_moves(Graph& graph) {
  RK_ASSIGN(const size_t kept,
            rewrite(graph, chain("Reshape", "Transpose", "Reshape").only_use(), keep_planes));
  // One match for each Reshape at a time: it has several readers.
  for (size_t total = kept;;) {
    RK_ASSIGN(const size_t sliced, rewrite(graph, chain("Reshape", "Slice"), slice_first));
    if (sliced == 0) return total;
    total += sliced;
  }
}

}  // namespace rk::passes
