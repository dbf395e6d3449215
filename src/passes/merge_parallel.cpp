// SPDX-License-Identifier: Apache-2.0
// The same Transpose or Relu on every branch of a Concat is applied once, behind it. A Relu stays
// where it would fuse into its branch's convolution or sum. Other activations stay too: their
// inputs would have to share one int8 scale.
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool same_function(const Node& a, const Node& b) {
  return a.op() == b.op() &&
         std::ranges::equal(a.attrs(), b.attrs(), [](const auto& x, const auto& y) {
           return x.first == y.first && attr_equal(x.second, y.second);
         });
}

bool can_leave_branch(const Node& node) {
  if (node.op() == "Transpose") return node.has_attr("perm") && !node.ints("perm").empty();
  const Node* before = node.input(0).producer();
  const bool fuses = before != nullptr && (before->op() == "Conv" || before->op() == "Add" ||
                                           before->op() == "ConvTranspose");
  return node.op() == "Relu" && !fuses;
}

}  // namespace

Result<size_t> merge_parallel(Graph& graph) {
  return rewrite(graph, chain("Concat"), [](Match& m) -> Result<Rewrite> {
    Graph& graph = m.graph();
    const Node& concat = m[0];
    if (concat.input_count() < 2) return Rewrite::kSkip;
    std::vector<Value*> sources;
    const Node* first = concat.input(0).producer();
    for (const Value* input : concat.inputs()) {
      const Node* node = input->producer();
      if (node == nullptr || !read_once(graph, *input) || !can_leave_branch(*node) ||
          !same_function(*node, *first))
        return Rewrite::kSkip;
      sources.push_back(&node->input(0));
    }
    const int64_t rank = concat.output().shape().rank();
    int64_t axis = concat.i64("axis");
    axis += axis < 0 ? rank : 0;
    if (first->op() == "Transpose") axis = first->ints("perm")[static_cast<size_t>(axis)];
    RK_ASSIGN(Node* const joined,
              graph.add_node({"Concat", concat.name(), std::move(sources), {""}, {{"axis", axis}}},
                             &m[0]));
    return m.replace_with(
        {std::string(first->op()), first->name(), {&joined->output()}, {""}, first->attrs()});
  });
}

}  // namespace rk::passes
