// SPDX-License-Identifier: Apache-2.0
#include "registers/places.h"

#include <algorithm>

#include "base/checked_math.h"
#include "program/arena.h"

namespace rk::registers {
namespace {

using format::FileTensor;

// Inner tensors of an attention have no size in the plan of a Program.
Result<uint64_t> bytes_of(const FileTensor& tensor) {
  if (tensor.size_bytes != 0) return uint64_t{tensor.size_bytes};
  std::vector<int64_t> extents(tensor.native_shape.begin(), tensor.native_shape.end());
  extents.push_back(static_cast<int64_t>(byte_size(tensor.dtype)));
  const auto bytes = checked_product(extents);
  if (!bytes || *bytes > UINT32_MAX)
    return out_of_memory(str("tensor '", tensor.name, "' takes more than 4 GiB"));
  return *bytes;
}

}  // namespace

Status place_features(const program::Variant& variant, const std::vector<StepScratch>& scratch,
                      format::FileModel& model) {
  std::vector<FileTensor>& tensors = model.graphs.front().tensors;
  const auto steps = static_cast<int64_t>(variant.steps.size());
  // Inputs are there before the first step.
  std::vector<int64_t> first(variant.tensors.size(), steps), last(variant.tensors.size(), -1);
  for (const int32_t i : variant.inputs) first[static_cast<size_t>(i)] = -1;
  for (int64_t s = 0; s < steps; ++s) {
    const program::Step& step = variant.steps[static_cast<size_t>(s)];
    for (const auto* list : {&step.inputs, &step.outputs}) {
      for (const int32_t i : *list) {
        if (i == program::kNone) continue;
        const auto index = static_cast<size_t>(i);
        first[index] = std::min(first[index], s);
        last[index] = s;
      }
    }
  }
  for (const int32_t i : variant.outputs) last[static_cast<size_t>(i)] = steps;

  std::vector<program::Lifetime> lifetimes;
  std::vector<size_t> placed;
  for (const auto& [tensor, step] : scratch) {
    lifetimes.push_back(
        {tensors[tensor].size_bytes, static_cast<int64_t>(step), static_cast<int64_t>(step)});
    placed.push_back(tensor);
  }
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    if (variant.tensors[i].is_constant()) continue;
    RK_ASSIGN(const uint64_t bytes, bytes_of(tensors[i]));
    tensors[i].size_bytes = static_cast<uint32_t>(bytes);
    lifetimes.push_back({bytes, std::min(first[i], last[i]), last[i]});
    placed.push_back(i);
  }
  const program::ArenaPlan plan = program::plan_arena(lifetimes, program::ArenaOrder::kAsTheyBegin);
  if (plan.size_bytes > UINT32_MAX)
    return out_of_memory(str("the features take ", plan.size_bytes,
                             " bytes; a .rknn file can describe 4 GiB. Use smaller inputs"));
  for (size_t i = 0; i < placed.size(); ++i)
    tensors[placed[i]].offset_in_internal = static_cast<uint32_t>(plan.offset[i]);
  model.memory.internal_bytes = plan.size_bytes;
  return ok_status();
}

}  // namespace rk::registers
