// SPDX-License-Identifier: Apache-2.0
// Moves elements in any regular order: transposes, slices, shuffles and repeats of tensors, whatever their meaning.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace rk::kernels {

inline constexpr int kMoveLoops = 8;

// Nested loops, outermost first; the output is written from its first element to its last. No loops: one element.
struct MoveArgs {
  struct Loop {
    int64_t extent = 1;
    int64_t step = 0;  // of the input, in elements; may be negative or 0
    bool operator==(const Loop&) const = default;
  };
  Loop loops[kMoveLoops];
  int32_t count = 0;          // of loops
  int32_t element_bytes = 1;  // 1, 2, 4 or 8
  const void* input = nullptr;
  void* output = nullptr;  // does not overlap the input
};

// A unit is one round of the outermost loop.
int64_t move_units(const MoveArgs& args);
void move_elements(const MoveArgs& args, IndexRange units);

// The loops that visit sources[0], sources[1], ... in turn, `args` then lacking only pointers and the element's size.
// False: there are none, or too many. `first` is where they begin.
bool find_move_loops(const int32_t* sources, int64_t elements, MoveArgs& args, int64_t& first);

}  // namespace rk::kernels
