// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble: decision trees over the columns of a matrix. As in ai.onnx.ml 5, but that a leaf may hold several weights,
// that lists are lists, and that results are not transformed (the importer adds the nodes that do).
#include <cmath>
#include <limits>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

constexpr int64_t kMostColumns = int64_t{1} << 20;

enum Mode { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };

struct TreeNode {
  int64_t feature = 0;
  int64_t mode = kLeq;
  float split = 0;
  bool missing_is_true = false;
  bool is_leaf[2] = {};  // false branch, true branch
  size_t next[2] = {};
  size_t members = 0, members_end = 0;  // of the list of members
};

struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<size_t> roots;
  std::vector<size_t> leaf_starts;  // one more than leaves
  std::vector<float> members;
};

Status check_length(std::string_view attr, size_t found, size_t expected) {
  if (found == expected) return ok_status();
  return refuse("attribute '", attr, "' has ", found, " values, expected ", expected);
}

Status read_leaves(const Node& node, Trees& out) {
  const std::vector<int64_t>& targets = node.ints("leaf_targetids");
  const std::vector<int64_t>& counts = node.ints("leaf_counts");
  RK_TRY(check_length("leaf_weights", node.floats("leaf_weights").size(), targets.size()));
  for (const int64_t target : targets) {
    if (target < 0 || target >= node.i64("n_targets")) {
      return refuse("attribute 'leaf_targetids' holds ", target, ", expected 0 to ",
                    node.i64("n_targets") - 1);
    }
  }
  out.leaf_starts = {0};
  for (size_t i = 0; i < (counts.empty() ? targets.size() : counts.size()); ++i) {
    const int64_t count = counts.empty() ? 1 : counts[i];
    const size_t left = targets.size() - out.leaf_starts.back();
    if (count < 0 || static_cast<uint64_t>(count) > left) {
      return refuse("attribute 'leaf_counts' holds ", count, ", ", left, " weights are left");
    }
    out.leaf_starts.push_back(out.leaf_starts.back() + static_cast<size_t>(count));
  }
  return check_length("leaf_targetids", targets.size(), out.leaf_starts.back());
}

// Sets of members follow each other, a NaN after each, in the order of the nodes that ask for one.
Status read_members(const Node& node, Trees& out) {
  out.members = node.floats("membership_values");
  size_t at = 0;
  for (TreeNode& one : out.nodes) {
    if (one.mode != kMember) continue;
    one.members = at;
    while (at < out.members.size() && !std::isnan(out.members[at])) ++at;
    if (at == out.members.size() && one.members == at) {
      return refuse(
          "attribute 'membership_values' has fewer sets than there are nodes that ask for one");
    }
    one.members_end = at;
    if (at < out.members.size()) ++at;
  }
  return ok_status();
}

// Every node is reached once at most: a table with a cycle would never end, one with shared branches could take
// exponential time.
Status check_reach(const Trees& trees) {
  std::vector<bool> reached(trees.nodes.size(), false);
  std::vector<size_t> open = trees.roots;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (reached[at])
      return refuse("node ", at,
                    " of its trees is reached twice: the table has a cycle or a shared branch");
    reached[at] = true;
    for (const int branch : {0, 1}) {
      if (!trees.nodes[at].is_leaf[branch]) open.push_back(trees.nodes[at].next[branch]);
    }
  }
  return ok_status();
}

Result<Trees> read_trees(const Node& node) {
  Trees out;
  RK_TRY(read_leaves(node, out));
  const std::vector<int64_t>& features = node.ints("nodes_featureids");
  const size_t count = features.size(), leaves = out.leaf_starts.size() - 1;
  for (const char* attr : {"nodes_modes", "nodes_truenodeids", "nodes_falsenodeids",
                           "nodes_trueleafs", "nodes_falseleafs"}) {
    RK_TRY(check_length(attr, node.ints(attr).size(), count));
  }
  RK_TRY(check_length("nodes_splits", node.floats("nodes_splits").size(), count));
  const std::vector<int64_t>& missing = node.ints("nodes_missing_value_tracks_true");
  if (!missing.empty())
    RK_TRY(check_length("nodes_missing_value_tracks_true", missing.size(), count));
  for (size_t i = 0; i < count; ++i) {
    TreeNode one;
    one.feature = features[i];
    one.mode = node.ints("nodes_modes")[i];
    one.split = node.floats("nodes_splits")[i];
    one.missing_is_true = !missing.empty() && missing[i] != 0;
    if (one.mode < kLeq || one.mode > kMember)
      return refuse("attribute 'nodes_modes' holds ", one.mode, ", expected 0 to 6");
    if (one.feature < 0 || one.feature >= kMostColumns)
      return refuse("attribute 'nodes_featureids' holds ", one.feature);
    for (const int branch : {0, 1}) {
      one.is_leaf[branch] = node.ints(branch == 1 ? "nodes_trueleafs" : "nodes_falseleafs")[i] != 0;
      const int64_t next = node.ints(branch == 1 ? "nodes_truenodeids" : "nodes_falsenodeids")[i];
      const size_t bound = one.is_leaf[branch] ? leaves : count;
      if (next < 0 || static_cast<uint64_t>(next) >= bound) {
        return refuse("node ", i, " of its trees leads to ",
                      one.is_leaf[branch] ? "leaf " : "node ", next, ", there are ", bound);
      }
      one.next[branch] = static_cast<size_t>(next);
    }
    out.nodes.push_back(one);
  }
  for (const int64_t root : node.ints("tree_roots")) {
    if (root < 0 || static_cast<uint64_t>(root) >= count)
      return refuse("attribute 'tree_roots' holds ", root, ", there are ", count, " nodes");
    out.roots.push_back(static_cast<size_t>(root));
  }
  RK_TRY(check_reach(out));
  RK_TRY(read_members(node, out));
  return out;
}

Status tree_ensemble_infer(InferCall& call) {
  const Node& node = call.node;
  RK_TRY(require_range(node, "n_targets", 1, kMostColumns));
  RK_TRY(require_range(node, "aggregate_function", 0, 3));
  RK_ASSIGN(const Trees trees, read_trees(node));
  const Shape& in = call.input(0).shape;
  for (const TreeNode& one : trees.nodes) {
    if (one.feature >= in[1])
      return refuse("its trees ask for column ", one.feature, " of ", to_string(in));
  }
  return set_output(call, 0, DType::kF32, {in[0], node.i64("n_targets")});
}

bool goes_true(const Trees& trees, const TreeNode& node, float x) {
  if (std::isnan(x) && node.missing_is_true) return true;
  switch (node.mode) {
    case kLeq:
      return x <= node.split;
    case kLt:
      return x < node.split;
    case kGte:
      return x >= node.split;
    case kGt:
      return x > node.split;
    case kEq:
      return x == node.split;
    case kNeq:
      return x != node.split;
    default:
      break;
  }
  for (size_t i = node.members; i < node.members_end; ++i) {
    if (trees.members[i] == x) return true;
  }
  return false;
}

Status tree_ensemble_reference(const EvalCall& call) {
  const Node& node = call.node;
  RK_ASSIGN(const Trees trees, read_trees(node));
  const std::vector<int64_t>& targets = node.ints("leaf_targetids");
  const std::vector<float>& weights = node.floats("leaf_weights");
  const int64_t aggregate = node.i64("aggregate_function");  // 0 average, 1 sum, 2 least, 3 largest
  const int64_t columns = call.input(0).shape()[1];
  const auto count = static_cast<size_t>(node.i64("n_targets"));
  std::vector<double> sums(count);
  std::vector<bool> seen(count);
  for (int64_t row = 0; row < call.input(0).shape()[0]; ++row) {
    const float* x = call.input(0).data<float>() + row * columns;
    sums.assign(count, 0.0);
    seen.assign(count, false);
    for (const size_t root : trees.roots) {
      const TreeNode* at = &trees.nodes[root];
      int branch = goes_true(trees, *at, x[at->feature]) ? 1 : 0;
      while (!at->is_leaf[branch]) {
        at = &trees.nodes[at->next[branch]];
        branch = goes_true(trees, *at, x[at->feature]) ? 1 : 0;
      }
      const size_t leaf = at->next[branch];
      for (size_t i = trees.leaf_starts[leaf]; i < trees.leaf_starts[leaf + 1]; ++i) {
        const auto target = static_cast<size_t>(targets[i]);
        double& sum = sums[target];
        const double weight = weights[i];
        if (aggregate < 2) sum += weight;
        if (aggregate == 2) sum = seen[target] ? std::min(sum, weight) : weight;
        if (aggregate == 3) sum = seen[target] ? std::max(sum, weight) : weight;
        seen[target] = true;
      }
    }
    float* y = call.output(0).mutable_data<float>() + row * static_cast<int64_t>(count);
    const double divisor =
        aggregate == 0 && !trees.roots.empty() ? static_cast<double>(trees.roots.size()) : 1;
    for (size_t i = 0; i < count; ++i) y[i] = static_cast<float>(sums[i] / divisor);
  }
  return ok_status();
}

Cost tree_ensemble_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape()[0]) *
                 (node.ints("nodes_featureids").size() + node.ints("leaf_targetids").size())};
}

}  // namespace

OpDef tree_ensemble() {
  const std::vector<int64_t> none;
  return {
      .name = "TreeEnsemble",
      .doc = "y = weights of the leaves that the rows of x reach in decision trees, aggregated",
      .inputs = {{"x", one_of({DType::kF32}).rank(2)}},
      .outputs = {{"y"}},
      .attrs = {{"aggregate_function", int64_t{1}, "0 average, 1 sum, 2 least, 3 largest"},
                {"leaf_counts", none, "weights of each leaf; empty: 1"},
                {"leaf_targetids", none, "output column of each weight", AttrDef::kRequired},
                {"leaf_weights", std::vector<float>{}, "the weights", AttrDef::kRequired},
                {"membership_values", std::vector<float>{}, "sets for mode 6, a NaN after each"},
                {"n_targets", int64_t{1}, "columns of the output", AttrDef::kRequired},
                {"nodes_falseleafs", none, "1: the false branch is a leaf", AttrDef::kRequired},
                {"nodes_falsenodeids", none, "node or leaf where the comparison fails",
                 AttrDef::kRequired},
                {"nodes_featureids", none, "column that the node looks at", AttrDef::kRequired},
                {"nodes_missing_value_tracks_true", none, "1: NaN takes the true branch; empty: 0"},
                {"nodes_modes", none, "0 <=, 1 <, 2 >=, 3 >, 4 ==, 5 !=, 6 member of a set",
                 AttrDef::kRequired},
                {"nodes_splits", std::vector<float>{}, "what the column is compared with",
                 AttrDef::kRequired},
                {"nodes_trueleafs", none, "1: the true branch is a leaf", AttrDef::kRequired},
                {"nodes_truenodeids", none, "node or leaf where the comparison holds",
                 AttrDef::kRequired},
                {"tree_roots", none, "first node of each tree", AttrDef::kRequired}},
      .infer = tree_ensemble_infer,
      .reference = tree_ensemble_reference,
      .cost = tree_ensemble_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
