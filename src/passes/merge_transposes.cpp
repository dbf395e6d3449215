// SPDX-License-Identifier: Apache-2.0
// Transpose clean-up: chains compose, the identity goes, and a Transpose that moves only axes of
// extent 1 becomes a Reshape, which costs nothing.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// perm as the node means it: the default reverses the axes.
std::vector<int64_t> permutation(const Node& node) {
  if (node.has_attr("perm") && !node.ints("perm").empty()) return node.ints("perm");
  std::vector<int64_t> perm;
  for (int axis = node.input(0).shape().rank() - 1; axis >= 0; --axis) perm.push_back(axis);
  return perm;
}

bool is_identity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// The axes that hold more than one element keep their order, so the bytes do not move.
bool moves_nothing(const std::vector<int64_t>& perm, const Shape& shape) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (shape[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

Result<size_t> merge_transposes(Graph& graph) {
  RK_ASSIGN(
      size_t total,
      rewrite(graph, chain("Transpose", "Transpose").only_use(), [](Match& m) -> Result<Rewrite> {
        const std::vector<int64_t> first = permutation(m[0]), second = permutation(m[1]);
        std::vector<int64_t> both;
        for (const int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
        return m.replace_with({"Transpose", m[1].name(), {&m[0].input(0)}, {""}, {{"perm", both}}});
      }));
  RK_ASSIGN(
      const size_t simplified, rewrite(graph, chain("Transpose"), [](Match& m) -> Result<Rewrite> {
        const std::vector<int64_t> perm = permutation(m[0]);
        Value& data = m[0].input(0);
        if (is_identity(perm) && m.graph().can_replace(m[0].output(), data))
          return m.replace_with(data);
        if (!moves_nothing(perm, data.shape())) return Rewrite::kSkip;
        return m.replace_with(reshape_to(m.graph(), m[0].name(), &data, m[0].output().shape()));
      }));
  return total + simplified;
}

}  // namespace rk::passes
