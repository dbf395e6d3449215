// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite.h"

#include <algorithm>

namespace rk {
namespace {

// The next node of the chain behind `value`, or null.
Node* follow(const Graph& graph, const Value& value, std::string_view op, bool only_use,
             bool any_input, size_t& link) {
  if (only_use && (value.uses().size() != 1 || graph.is_output(value))) return nullptr;
  for (const Use& use : value.uses()) {
    if (use.node->op() == op && (any_input || use.index == 0)) {
      link = use.index;
      return use.node;
    }
  }
  return nullptr;
}

}  // namespace

Result<Rewrite> Match::replace_with(NodeSpec spec) {
  Value& old = last().output();
  spec.outputs.assign(1, "");
  RK_ASSIGN(Node * node, graph_.add_node(std::move(spec), &last()));
  if (!graph_.can_replace(old, node->output())) {
    return invalid_model(str(last().label(), ": a rewrite changes the type from ",
                             to_string(old.type()), " to ", to_string(node->output().type())));
  }
  const std::string name = old.name();
  node->output().quant = old.quant;
  const bool was_output = graph_.is_output(old);
  graph_.replace_uses(&old, &node->output());
  if (!was_output) {  // keep the name users know for inner values too
    graph_.rename(&old, graph_.unique_name(name + "_replaced"));
    graph_.rename(&node->output(), name);
  }
  return Rewrite::kChanged;
}

Result<Rewrite> Match::replace_with(Value& value) {
  Value& old = last().output();
  if (!graph_.can_replace(old, value)) return Rewrite::kSkip;
  graph_.replace_uses(&old, &value);
  return Rewrite::kChanged;
}

Result<size_t> rewrite(Graph& graph, const Chain& pattern,
                       const std::function<Result<Rewrite>(Match&)>& apply) {
  size_t changed = 0;
  for (Node* first : graph.nodes()) {
    // An earlier rewrite of this sweep may have made the node useless.
    if (first->op() != pattern.ops_.front()) continue;
    const bool used = std::ranges::any_of(first->outputs(), [&](const Value* v) {
      return !v->uses().empty() || graph.is_output(*v);
    });
    if (!used) continue;
    std::vector<Node*> nodes = {first};
    std::vector<size_t> links = {0};
    for (size_t i = 1; i < pattern.ops_.size(); ++i) {
      size_t link = 0;
      Node* next = follow(graph, nodes.back()->output(), pattern.ops_[i], pattern.only_use_,
                          pattern.any_input_, link);
      if (next == nullptr) break;
      nodes.push_back(next);
      links.push_back(link);
    }
    if (nodes.size() != pattern.ops_.size()) continue;
    Match match(graph, std::move(nodes), std::move(links));
    RK_ASSIGN(const Rewrite result, apply(match));
    changed += result == Rewrite::kChanged;
  }
  graph.remove_unused();
  return changed;
}

}  // namespace rk
