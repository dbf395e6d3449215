// SPDX-License-Identifier: Apache-2.0
#include "passes/slice_cuts.h"

#include <algorithm>

namespace rk::passes {

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

}  // namespace rk::passes
