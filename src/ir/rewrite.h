// SPDX-License-Identifier: Apache-2.0
// The pattern matcher of the passes: chains of nodes, each feeding input 0 of the next.
//
//   rewrite(graph, chain("Conv", "BatchNormalization").only_use(), [](Match& m) -> Result<Rewrite>
//   { ... });
//
// The callback gets the matched nodes first to last. It edits the graph and returns kChanged, or
// kSkip for no change. Nodes it made useless are swept by rewrite() itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rk {

enum class Rewrite { kSkip, kChanged };

class Chain {
 public:
  explicit Chain(std::vector<std::string_view> ops) : ops_(std::move(ops)) {}
  // Every value between the matched nodes has no other use and is not an output of the graph.
  Chain only_use() && {
    only_use_ = true;
    return std::move(*this);
  }
  // The following links may be any input of the next node (for commutative operators), not only
  // input 0.
  Chain any_input() && {
    any_input_ = true;
    return std::move(*this);
  }

 private:
  friend Result<size_t> rewrite(Graph&, const Chain&,
                                const std::function<Result<Rewrite>(class Match&)>&);
  std::vector<std::string_view> ops_;
  bool only_use_ = false;
  bool any_input_ = false;
};

template <typename... Names>
Chain chain(Names... names) {
  return Chain({std::string_view(names)...});
}

class Match {
 public:
  Match(Graph& graph, std::vector<Node*> nodes, std::vector<size_t> links)
      : graph_(graph), nodes_(std::move(nodes)), links_(std::move(links)) {}
  Graph& graph() { return graph_; }
  Node& operator[](size_t i) const { return *nodes_[i]; }
  Node& last() const { return *nodes_.back(); }
  // Which input of node i the chain came in through (i >= 1).
  size_t link(size_t i) const { return links_[i]; }

  // Makes a node before the last matched one whose result takes the place of the last one's output.
  Result<Rewrite> replace_with(NodeSpec spec);
  // The last node's output is replaced by an existing value; kSkip where an output's name would be
  // lost.
  Result<Rewrite> replace_with(Value& value);

 private:
  Graph& graph_;
  std::vector<Node*> nodes_;
  std::vector<size_t> links_;
};

// Applies the callback to every match, from the front; returns how many changed something.
Result<size_t> rewrite(Graph& graph, const Chain& pattern,
                       const std::function<Result<Rewrite>(Match&)>& apply);

}  // namespace rk
