// SPDX-License-Identifier: Apache-2.0
// A channel shuffle, Reshape [N,g,C/g,...] - Transpose [0,2,1,...] - Reshape [N,C,...], moves whole
// channels. As a Gather of channels it stays on the NPU, where a Transpose of five axes would not.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// Axes 1..count of `grouped` hold the channels; 0 where no run of axes does.
int group_axes(const Shape& grouped, const Shape& in) {
  int64_t product = 1;
  for (int axis = 1; axis < grouped.rank(); ++axis) {
    product *= grouped[axis];
    if (product == in[1]) return axis;
    if (product > in[1]) return 0;
  }
  return 0;
}

// The channel that lands at each place; empty where other axes move too.
std::vector<int64_t> channel_order(const Shape& grouped, const std::vector<int64_t>& perm,
                                   int groups) {
  if (perm[0] != 0) return {};
  for (int axis = groups + 1; axis < grouped.rank(); ++axis) {
    if (perm[static_cast<size_t>(axis)] != axis) return {};
  }
  std::vector<int64_t> order = {0};
  for (int axis = 1; axis <= groups; ++axis) {
    const auto source = static_cast<int>(perm[static_cast<size_t>(axis)]);
    int64_t stride = 1;
    for (int inner = source + 1; inner <= groups; ++inner) stride *= grouped[inner];
    std::vector<int64_t> finer;
    for (const int64_t base : order) {
      for (int64_t i = 0; i < grouped[source]; ++i) finer.push_back(base + i * stride);
    }
    order = std::move(finer);
  }
  return order;
}

}  // namespace

Result<size_t> shuffle_to_gather(Graph& graph) {
  return rewrite(
      graph, chain("Reshape", "Transpose", "Reshape").only_use(), [](Match& m) -> Result<Rewrite> {
        const Shape& in = m[0].input(0).shape();
        const Shape& grouped = m[0].output().shape();
        if (in.rank() < 3 || in.rank() > 4 || m[2].output().shape() != in ||
            grouped.rank() <= in.rank() - 1 || grouped[0] != in[0] || !m[1].has_attr("perm") ||
            m[1].ints("perm").empty())
          return Rewrite::kSkip;
        const int groups = group_axes(grouped, in);
        if (groups < 2) return Rewrite::kSkip;
        std::vector<int64_t> order = channel_order(grouped, m[1].ints("perm"), groups);
        if (order.empty()) return Rewrite::kSkip;
        Value* indices =
            m.graph().add_constant(m[2].name() + "_order", Tensor::i64({in[1]}, order));
        return m.replace_with(
            {"Gather", m[2].name(), {&m[0].input(0), indices}, {""}, {{"axis", int64_t{1}}}});
      });
}

}  // namespace rk::passes
