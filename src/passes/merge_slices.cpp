// SPDX-License-Identifier: Apache-2.0
// A Slice of a Slice becomes one, and a Slice that takes one operand out of a Concat becomes that operand. Only slices
// with constant positions that run forwards.
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

struct Cut {
  int64_t start = 0, count = 0, step = 1;
};

// Per axis of the input what is kept; nothing where a position is computed or a step is negative.
std::optional<std::vector<Cut>> cuts_of(const Node& slice) {
  const Shape &in = slice.input(0).shape(), &out = slice.output().shape();
  std::vector<Cut> cuts;
  for (int axis = 0; axis < in.rank(); ++axis) cuts.push_back({0, out[axis], 1});
  for (size_t i = 1; i < slice.input_count(); ++i) {
    if (slice.has_input(i) && !slice.input(i).is_constant()) return std::nullopt;
  }
  const std::vector<int64_t> starts = slice.input(1).constant().to_i64();
  const auto axes =
      slice.has_input(3) ? slice.input(3).constant().to_i64() : std::vector<int64_t>();
  const auto steps =
      slice.has_input(4) ? slice.input(4).constant().to_i64() : std::vector<int64_t>();
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t given = i < axes.size() ? axes[i] : static_cast<int64_t>(i);
    const auto axis = static_cast<int>(given < 0 ? given + in.rank() : given);
    const int64_t start = starts[i] < 0 ? starts[i] + in[axis] : starts[i];
    Cut& cut = cuts[static_cast<size_t>(axis)];
    cut.start = std::clamp<int64_t>(start, 0, in[axis]);
    cut.step = i < steps.size() ? steps[i] : 1;
    if (cut.step < 1) return std::nullopt;
  }
  return cuts;
}

Result<Rewrite> take_operand(Match& m) {
  const auto cuts = cuts_of(m[1]);
  if (!cuts) return Rewrite::kSkip;
  const Shape& joined = m[0].output().shape();
  const int64_t given = m[0].i64("axis");
  const auto axis = static_cast<int>(given < 0 ? given + joined.rank() : given);
  for (int i = 0; i < joined.rank(); ++i) {
    const Cut& cut = (*cuts)[static_cast<size_t>(i)];
    if (cut.step != 1 || (i != axis && cut.count != joined[i])) return Rewrite::kSkip;
  }
  const Cut& wanted = (*cuts)[static_cast<size_t>(axis)];
  int64_t start = 0;
  for (size_t i = 0; i < m[0].input_count(); ++i) {
    Value& operand = m[0].input(i);
    const int64_t count = operand.shape()[axis];
    if (start == wanted.start && count == wanted.count) return m.replace_with(operand);
    start += count;
  }
  return Rewrite::kSkip;
}

}  // namespace

Result<size_t> merge_slices(Graph& graph) {
  RK_ASSIGN(const size_t taken, rewrite(graph, chain("Concat", "Slice"), take_operand));
  const auto merged =
      rewrite(graph, chain("Slice", "Slice").only_use(), [](Match& m) -> Result<Rewrite> {
        const auto first = cuts_of(m[0]), second = cuts_of(m[1]);
        if (!first || !second || m[1].output().shape().elements() == 0) return Rewrite::kSkip;
        std::vector<int64_t> starts, ends, axes, steps;
        for (size_t axis = 0; axis < first->size(); ++axis) {
          const Cut &a = (*first)[axis], &b = (*second)[axis];
          const int64_t start = a.start + b.start * a.step, step = a.step * b.step;
          starts.push_back(start);
          steps.push_back(step);
          ends.push_back(start + (b.count - 1) * step + 1);
          axes.push_back(static_cast<int64_t>(axis));
        }
        const auto list = [&](const char* name, const std::vector<int64_t>& values) {
          return m.graph().add_constant(m[1].name() + name,
                                        Tensor::i64({static_cast<int64_t>(values.size())}, values));
        };
        return m.replace_with({"Slice",
                               m[1].name(),
                               {&m[0].input(0), list("_starts", starts), list("_ends", ends),
                                list("_axes", axes), list("_steps", steps)},
                               {""},
                               {}});
      });
  RK_TRY(merged.status());
  return taken + *merged;
}

}  // namespace rk::passes
