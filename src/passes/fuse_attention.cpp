// SPDX-License-Identifier: Apache-2.0
// MatMul, Softmax and MatMul over queries, keys and values become exSDPAttention on chips that have
// it:
//   y = Softmax(scale * MatMul(q, k') + mask) v
// The scale may stand at q, at k, at the scores or be split between q and k. The fused operator
// wants k as it was before its Transpose; where the graph holds k' only, a Transpose turns it back.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/shared/shape_util.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

struct Scores {
  Value* q = nullptr;
  Value* k_transposed = nullptr;
  double scale = 1;
};

// One value and the constant it is multiplied with.
std::optional<std::pair<Value*, double>> scaled(const Graph& graph, Value& value) {
  const Product product = product_of(graph, value);
  if (product.factors.size() != 1 || product.factors[0]->type() != value.type())
    return std::nullopt;
  return std::pair{product.factors[0], product.coefficient};
}

std::optional<Scores> scores_of(const Graph& graph, Value& value) {
  const auto whole = scaled(graph, value);
  if (!whole) return std::nullopt;
  const Node* matmul = only_from(graph, *whole->first, "MatMul");
  if (matmul == nullptr) return std::nullopt;
  const auto q = scaled(graph, matmul->input(0)), k = scaled(graph, matmul->input(1));
  if (!q || !k) return std::nullopt;
  return Scores{q->first, k->first, whole->second * q->second * k->second};
}

bool broadcasts_to(const Value& small, const Shape& full) {
  const auto both = ops::broadcast_shapes(small.shape(), full);
  return both.ok() && *both == full;
}

// The scores and the mask added to them (null without one).
std::optional<std::pair<Scores, Value*>> masked_scores(const Graph& graph, Value& value) {
  if (const auto plain = scores_of(graph, value)) return std::pair{*plain, nullptr};
  const Node* add = only_from(graph, value, "Add");
  if (add == nullptr) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    Value& mask = add->input(1 - i);
    const auto scores = scores_of(graph, add->input(i));
    if (scores && broadcasts_to(mask, add->input(i).shape())) return std::pair{*scores, &mask};
  }
  return std::nullopt;
}

Result<Value*> untransposed(Graph& graph, Value& k_transposed, Node* before) {
  std::vector<int64_t> perm;
  for (int axis = 0; axis < k_transposed.shape().rank(); ++axis) perm.push_back(axis);
  Value* source = &k_transposed;
  const Node* transpose = from(k_transposed, "Transpose");
  if (transpose != nullptr && transpose->has_attr("perm") && !transpose->ints("perm").empty()) {
    perm = transpose->ints("perm");
    source = &transpose->input(0);
  }
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  if (std::ranges::is_sorted(perm)) return source;
  RK_ASSIGN(
      Node* const node,
      graph.add_node({"Transpose", k_transposed.name() + "_k", {source}, {""}, {{"perm", perm}}},
                     before));
  return &node->output();
}

}  // namespace

Result<size_t> fuse_attention(Graph& graph, const target::Target& target) {
  if (target.find("exSDPAttention") == nullptr) return size_t{0};
  return rewrite(graph, chain("Softmax", "MatMul").only_use(), [](Match& m) -> Result<Rewrite> {
    Graph& graph = m.graph();
    Value& v = m[1].input(1);
    const Shape& shape = m[0].output().shape();
    const int64_t axis = m[0].i64("axis");
    if (axis != -1 && axis != shape.rank() - 1) return Rewrite::kSkip;
    const auto found = masked_scores(graph, m[0].input(0));
    if (!found || v.is_constant()) return Rewrite::kSkip;
    const auto& [scores, mask] = *found;
    const Shape &q = scores.q->shape(), &k = scores.k_transposed->shape();
    const int rank = q.rank();
    // Equal batches only: the operator does not broadcast them.
    if (rank < 3 || k.rank() != rank || v.shape().rank() != rank) return Rewrite::kSkip;
    for (int i = 0; i < rank - 2; ++i) {
      if (q[i] != k[i] || q[i] != v.shape()[i]) return Rewrite::kSkip;
    }
    RK_ASSIGN(Value* const keys, untransposed(graph, *scores.k_transposed, &m[1]));
    std::vector<Value*> inputs = {scores.q, keys, &v};
    if (mask != nullptr) inputs.push_back(mask);
    return m.replace_with({"exSDPAttention",
                           m[1].name(),
                           std::move(inputs),
                           {""},
                           {{"scale", static_cast<float>(scores.scale)}}});
  });
}

}  // namespace rk::passes
