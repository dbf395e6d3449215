// SPDX-License-Identifier: Apache-2.0
#include "program/core_split.h"

#include <algorithm>
#include <array>

namespace rk::program {
namespace {

// The reference's list, and Mul from the operator list.
constexpr std::array<std::string_view, 7> kSharedTypes = {
    "Relu", "Clip", "Relu6", "ThresholdedRelu", "PRelu", "LeakyRelu", "Mul"};

bool is_shared(const Step& step) {
  if (step.processor != Processor::kNpu || step.outputs.empty()) return false;
  return std::holds_alternative<ConvParams>(step.params) ||
         std::holds_alternative<SumParams>(step.params) ||
         std::holds_alternative<ConcatParams>(step.params) ||
         std::ranges::find(kSharedTypes, step.type) != kSharedTypes.end();
}

}  // namespace

void split_over_cores(const target::Target& target, Variant& variant) {
  for (Step& step : variant.steps) {
    step.core_rows.clear();
    if (!is_shared(step)) continue;
    const Shape& shape = variant.tensors[static_cast<size_t>(step.outputs.front())].shape;
    if (shape.rank() != 4) continue;
    const auto rows = static_cast<int32_t>(shape[2]);
    for (int32_t cores = 2; cores <= target.npu_cores; ++cores) {
      for (int32_t core = 0; core < cores; ++core) {
        step.core_rows.push_back(rows / cores + (core < rows % cores ? 1 : 0));
      }
    }
  }
}

std::span<const int32_t> rows_by_core(std::span<const int32_t> core_rows, int cores) {
  size_t begin = 0;
  for (int fewer = 2; fewer < cores; ++fewer) begin += static_cast<size_t>(fewer);
  if (cores < 2 || begin + static_cast<size_t>(cores) > core_rows.size()) return {};
  return core_rows.subspan(begin, static_cast<size_t>(cores));
}

}  // namespace rk::program
