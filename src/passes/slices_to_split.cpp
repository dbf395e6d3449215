// SPDX-License-Identifier: Apache-2.0
// Slices that cut one axis of a value into parts, nothing left over, become one Split, as in vendor
// files.
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/pipeline.h"
#include "passes/slice_cuts.h"

namespace rk::passes {
namespace {

struct Part {
  Node* slice = nullptr;
  int64_t start = 0, count = 0;
};

// The one axis that the Slice shortens; -1 where there is none or it is not a run of elements.
int cut_axis(const Node& slice, Part& part) {
  const auto cuts = cuts_of(slice);
  if (!cuts) return -1;
  const Shape& in = slice.input(0).shape();
  int axis = -1;
  for (int i = 0; i < in.rank(); ++i) {
    const Cut& cut = (*cuts)[static_cast<size_t>(i)];
    if (cut.count == in[i]) continue;
    if (axis >= 0 || cut.step != 1 || cut.count == 0) return -1;
    axis = i;
    part.start = cut.start;
    part.count = cut.count;
  }
  return axis;
}

// All Slices of `x` along `axis`, from the front; empty where they leave something out or overlap.
std::vector<Part> parts_of(const Graph& graph, const Value& x, int axis) {
  std::vector<Part> parts;
  for (const Use& use : x.uses()) {
    if (use.node->op() != "Slice" || use.index != 0) continue;
    Part part{use.node};
    const Value& out = use.node->output();
    const bool is_read = !out.uses().empty() || graph.is_output(out);
    if (is_read && cut_axis(*use.node, part) == axis) parts.push_back(part);
  }
  std::ranges::sort(parts, {}, &Part::start);
  int64_t next = 0;
  for (const Part& part : parts) {
    if (part.start != next) return {};
    next += part.count;
  }
  return next == x.shape()[axis] ? parts : std::vector<Part>();
}

}  // namespace

Result<size_t> slices_to_split(Graph& graph) {
  return rewrite(graph, chain("Slice"), [](Match& m) -> Result<Rewrite> {
    Graph& graph = m.graph();
    Value& x = m[0].input(0);
    Part one;
    const int axis = cut_axis(m[0], one);
    if (axis < 0 || x.is_constant() || x.dtype() != DType::kF32) return Rewrite::kSkip;
    const std::vector<Part> parts = parts_of(graph, x, axis);
    if (parts.size() < 2) return Rewrite::kSkip;
    std::vector<int64_t> counts;
    for (const Part& part : parts) counts.push_back(part.count);
    Value* lengths = graph.add_constant(m[0].name() + "_2sp_split",
                                        Tensor::i64({static_cast<int64_t>(counts.size())}, counts));
    // The first of the Slices in order: what the others read is there, too.
    RK_ASSIGN(Node* const split, graph.add_node({"Split",
                                                 m[0].name() + "_2sp",
                                                 {&x, lengths},
                                                 std::vector<std::string>(parts.size()),
                                                 {{"axis", int64_t{axis}}}},
                                                &m[0]));
    for (size_t i = 0; i < parts.size(); ++i) {
      Value &old = parts[i].slice->output(), &made = split->output(i);
      const std::string name = old.name();
      const bool was_output = graph.is_output(old);
      made.quant = old.quant;
      graph.replace_uses(&old, &made);
      if (was_output) continue;
      graph.rename(&old, graph.unique_name(name + "_replaced"));
      graph.rename(&made, name);
    }
    return Rewrite::kChanged;
  });
}

}  // namespace rk::passes
