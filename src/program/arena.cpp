// SPDX-License-Identifier: Apache-2.0
#include "program/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_math.h"

namespace rk::program {
namespace {

constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<size_t> sorted(std::span<const Lifetime> lifetimes, ArenaOrder order) {
  std::vector<size_t> out(lifetimes.size());
  std::iota(out.begin(), out.end(), size_t{0});
  std::ranges::stable_sort(out, [&](size_t a, size_t b) {
    return order == ArenaOrder::kAsTheyBegin ? lifetimes[a].first < lifetimes[b].first
                                             : lifetimes[a].size_bytes > lifetimes[b].size_bytes;
  });
  return out;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, ArenaOrder order) {
  ArenaPlan plan;
  plan.offset.resize(lifetimes.size());
  std::vector<size_t> placed;  // by offset
  for (const size_t current : sorted(lifetimes, order)) {
    const uint64_t size = lifetimes[current].size_bytes;
    uint64_t end = 0;                                 // of what lives at the same time, so far
    uint64_t offset = kNowhere, smallest = kNowhere;  // the gap taken
    for (const size_t other : placed) {
      if (!overlap(lifetimes[current], lifetimes[other])) continue;
      const uint64_t begin = plan.offset[other];
      const uint64_t gap = begin > end ? begin - end : 0;
      if (begin >= end && gap >= size && gap < smallest) {
        offset = end;
        smallest = gap;
        if (order == ArenaOrder::kLargestFirst) break;
      }
      end = std::max(end, align_up(begin + lifetimes[other].size_bytes, kArenaAlignment));
    }
    if (offset == kNowhere) offset = end;
    plan.offset[current] = offset;
    plan.size_bytes = std::max(plan.size_bytes, offset + size);
    const auto place = std::ranges::upper_bound(placed, offset, {},
                                                [&](size_t index) { return plan.offset[index]; });
    placed.insert(place, current);
  }
  return plan;
}

}  // namespace rk::program
