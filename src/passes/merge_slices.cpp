// SPDX-License-Identifier: Apache-2.0
// A Slice of a Slice becomes one, and a Slice that takes one operand out of a Concat becomes that operand. Only slices
// with constant positions that run forwards.
#include "ir/rewrite.h"
#include "passes/pipeline.h"
#include "passes/slice_cuts.h"

namespace rk::passes {
namespace {

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
