// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace rk::compiler {
namespace {

constexpr uint64_t kAlignment = 64;

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

Plan plan_memory(std::span<const Lifetime> lifetimes) {
  Plan plan;
  plan.offset.resize(lifetimes.size());
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return lifetimes[a].size_bytes > lifetimes[b].size_bytes; });
  std::vector<size_t> placed;  // by offset
  for (const size_t current : order) {
    const uint64_t size = lifetimes[current].size_bytes;
    uint64_t best = UINT64_MAX, best_gap = UINT64_MAX, end = 0;
    for (const size_t other : placed) {
      if (!overlap(lifetimes[current], lifetimes[other])) continue;
      const uint64_t begin = plan.offset[other];
      if (begin >= end + size && begin - end < best_gap) {
        best = end;
        best_gap = begin - end;
      }
      end = std::max(end, align_up(begin + lifetimes[other].size_bytes, kAlignment));
    }
    const uint64_t offset = best == UINT64_MAX ? end : best;
    plan.offset[current] = offset;
    plan.size_bytes = std::max(plan.size_bytes, offset + size);
    const auto place = std::ranges::upper_bound(placed, offset, {},
                                                [&](size_t index) { return plan.offset[index]; });
    placed.insert(place, current);
  }
  return plan;
}

void assign_memory(program::Variant& variant) {
  const auto steps = static_cast<int64_t>(variant.steps.size());
  std::vector<int64_t> first(variant.tensors.size(), steps), last(variant.tensors.size(), -1);
  for (int64_t s = 0; s < steps; ++s) {
    const program::Step& step = variant.steps[static_cast<size_t>(s)];
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

  std::vector<Lifetime> lifetimes;
  std::vector<size_t> tensors;
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    if (variant.tensors[i].is_constant()) continue;
    lifetimes.push_back({variant.tensors[i].size_bytes, first[i], last[i]});
    tensors.push_back(i);
  }
  const Plan plan = plan_memory(lifetimes);
  for (size_t i = 0; i < tensors.size(); ++i) {
    variant.tensors[tensors[i]].offset_in_arena = plan.offset[i];
  }
  variant.arena_bytes = plan.size_bytes;
}

}  // namespace rk::compiler
