// SPDX-License-Identifier: Apache-2.0
// Nodes that compute the same thing from the same values become one: branches that each apply the
// operator to their common source share its result. Equal constants count as the same value.
#include <algorithm>
#include <map>

#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool same_value(const Value* a, const Value* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || !a->is_constant() || !b->is_constant()) return false;
  return a->type() == b->type() && std::ranges::equal(a->constant().bytes(), b->constant().bytes());
}

bool same_result(const Node& a, const Node& b) {
  return a.op() == b.op() && a.output_count() == b.output_count() &&
         std::ranges::equal(a.inputs(), b.inputs(), same_value) &&
         attrs_equal(a.attrs(), b.attrs());
}

// Takes over every use; an output of the graph keeps its own node and name.
bool take_over(Graph& graph, const Node& kept, const Node& gone) {
  for (size_t i = 0; i < gone.output_count(); ++i) {
    if (graph.is_output(gone.output(i)) || !graph.can_replace(gone.output(i), kept.output(i)))
      return false;
  }
  for (size_t i = 0; i < gone.output_count(); ++i)
    graph.replace_uses(&gone.output(i), &kept.output(i));
  return true;
}

}  // namespace

Result<size_t> merge_duplicates(Graph& graph) {
  size_t merged = 0;
  // By the first input that is not constant: only its readers can be equal.
  std::map<const Value*, std::vector<const Node*>> seen;
  for (const Node* node : graph.nodes()) {
    const auto data = std::ranges::find_if(
        node->inputs(), [](const Value* v) { return v != nullptr && !v->is_constant(); });
    if (data == node->inputs().end()) continue;
    std::vector<const Node*>& readers = seen[*data];
    const auto equal = std::ranges::find_if(
        readers, [&](const Node* earlier) { return same_result(*earlier, *node); });
    if (equal == readers.end()) {
      readers.push_back(node);
    } else if (take_over(graph, **equal, *node)) {
      ++merged;
    }
  }
  graph.remove_unused();
  return merged;
}

}  // namespace rk::passes
