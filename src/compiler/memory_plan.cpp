// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "compiler/scratch.h"
#include "program/arena.h"
#include "program/cost.h"

namespace rk::compiler {
namespace {

// When each step runs on the chip: steps that become ready first run first, so branches advance side by side. The host
// finishes one branch before it begins the next, which its caches like better; places in the arena are the chip's.
std::vector<int64_t> turns(const program::Variant& variant) {
  const size_t count = variant.steps.size();
  std::vector<std::vector<size_t>> readers(variant.tensors.size());
  std::vector<bool> made(variant.tensors.size(), false);
  for (const program::Step& step : variant.steps)
    for (const int32_t out : step.outputs) made[static_cast<size_t>(out)] = true;
  std::vector<size_t> missing(count, 0), queue;
  for (size_t i = 0; i < count; ++i) {
    for (const int32_t in : variant.steps[i].inputs) {
      if (in == program::kNone || !made[static_cast<size_t>(in)]) continue;
      readers[static_cast<size_t>(in)].push_back(i);
      ++missing[i];
    }
    if (missing[i] == 0) queue.push_back(i);
  }
  std::vector<int64_t> turn(count, 0);
  for (size_t next = 0; next < queue.size(); ++next) {
    turn[queue[next]] = static_cast<int64_t>(next);
    for (const int32_t out : variant.steps[queue[next]].outputs)
      for (const size_t reader : readers[static_cast<size_t>(out)])
        if (--missing[reader] == 0) queue.push_back(reader);
  }
  return turn;
}

// The tensor whose place each has: its own, or that of what an activation reads when nobody else does.
std::vector<size_t> homes(const program::Variant& variant) {
  std::vector<size_t> home(variant.tensors.size()), readers(variant.tensors.size(), 0);
  std::iota(home.begin(), home.end(), size_t{0});
  for (const program::Step& step : variant.steps)
    for (const int32_t in : step.inputs)
      if (in != program::kNone) ++readers[static_cast<size_t>(in)];
  for (const program::Step& step : variant.steps) {
    if (!program::joins_step_before(step) || step.outputs.size() != 1) continue;
    const auto in = static_cast<size_t>(step.inputs[0]), out = static_cast<size_t>(step.outputs[0]);
    const program::ProgramTensor& from = variant.tensors[in];
    const program::ProgramTensor& to = variant.tensors[out];
    const bool internal =
        from.kind == program::TensorKind::kInternal && to.kind == program::TensorKind::kInternal;
    if (internal && readers[in] == 1 && to.size_bytes <= from.size_bytes) home[out] = home[in];
  }
  return home;
}

}  // namespace

void assign_memory(const target::Target& target, program::Variant& variant) {
  const auto steps = static_cast<int64_t>(variant.steps.size());
  std::vector<int64_t> first(variant.tensors.size(), steps), last(variant.tensors.size(), -1);
  const std::vector<int64_t> turn = turns(variant);
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    const program::Step& step = variant.steps[i];
    const int64_t s = turn[i];
    for (const auto* tensors : {&step.inputs, &step.outputs}) {
      for (const int32_t i : *tensors) {
        if (i == program::kNone) continue;
        const auto index = static_cast<size_t>(i);
        first[index] = std::min(first[index], s);
        last[index] = std::max(last[index], s);
      }
    }
  }
  for (const int32_t i : variant.inputs) {
    first[static_cast<size_t>(i)] = -1;
    last[static_cast<size_t>(i)] = std::max<int64_t>(last[static_cast<size_t>(i)], -1);
  }
  for (const int32_t i : variant.outputs) last[static_cast<size_t>(i)] = steps;

  // Scratch goes before the tensors: it begins with a step and is placed before the step's result.
  const std::vector<size_t> home = homes(variant);
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    first[home[i]] = std::min(first[home[i]], first[i]);
    last[home[i]] = std::max(last[home[i]], last[i]);
  }
  std::vector<uint64_t> stored = stored_bytes(target, variant);
  std::vector<program::Lifetime> lifetimes;
  std::vector<bool> in_region(variant.steps.size(), false);
  for (const AttentionRegion& region : attention_regions(target, variant)) {
    for (const int32_t inner : region.inner) stored[static_cast<size_t>(inner)] = 0;
    for (const size_t s : region.steps) in_region[s] = true;
    lifetimes.push_back(
        {region.scratch_bytes, turn[region.steps.front()], turn[region.steps.back()]});
  }
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    const uint64_t bytes = in_region[s] ? 0 : scratch_bytes(target, variant, variant.steps[s]);
    if (bytes != 0) lifetimes.push_back({bytes, turn[s], turn[s]});
  }
  for (const int32_t index : variant.outputs)
    for (const uint64_t bytes : output_copies(target, variant.tensors[static_cast<size_t>(index)]))
      lifetimes.push_back({bytes, steps, steps});
  const size_t of_steps = lifetimes.size();
  std::vector<size_t> tensors;
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    if (variant.tensors[i].is_constant() || home[i] != i) continue;
    variant.tensors[i].size_bytes = stored[i];
    lifetimes.push_back({stored[i], first[i], last[i]});
    tensors.push_back(i);
  }
  const auto plan = program::plan_arena(lifetimes, program::ArenaOrder::kAsTheyBegin);
  for (size_t i = 0; i < tensors.size(); ++i) {
    variant.tensors[tensors[i]].offset_in_arena = plan.offset[of_steps + i];
  }
  for (size_t i = 1; i < variant.tensors.size(); ++i)
    variant.tensors[i].offset_in_arena = variant.tensors[home[i]].offset_in_arena;
  variant.arena_bytes = plan.size_bytes;
}

}  // namespace rk::compiler
