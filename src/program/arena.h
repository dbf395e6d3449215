// SPDX-License-Identifier: Apache-2.0
// Places in one arena for blocks that do not all live at the same time: the chip's internal memory (compiler) and the
// host's (runtime).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rk::program {

inline constexpr uint64_t kArenaAlignment = 64;

// A block that must exist from step `first` to step `last`, both included.
struct Lifetime {
  uint64_t size_bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaPlan {
  std::vector<uint64_t> offset;  // per lifetime, multiples of kArenaAlignment
  uint64_t size_bytes = 0;       // max(offset + size)
};

// Which block is placed next and where: in a gap that is free during its life, else behind all that lives with it.
enum class ArenaOrder {
  kAsTheyBegin,   // in the smallest gap, as the vendor's compiler does (docs/board-model.md)
  kLargestFirst,  // in the lowest gap; within a few percent of the lower bound on real networks
};
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, ArenaOrder order);

}  // namespace rk::program
