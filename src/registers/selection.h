// SPDX-License-Identifier: Apache-2.0
// Moves that change lanes of atoms: a convolution of one row by `taps` pixels whose weights are 0 and 1, so that each
// output channel is one value of the input. The vendor's compiler joins channels that fill no whole block in this way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registers/layer_tasks.h"

namespace rk::registers {

struct Selection {
  Feature in, out;  // views of the two tensors; in.channels counts lanes of all blocks
  uint64_t in_bytes = 0, out_bytes = 0;
  int32_t taps = 1;  // pixels of a row that one output pixel reads; the output has as many fewer
  // For each output channel tap * in.channels + channel, or -1 for a lane without a meaning.
  std::vector<int64_t> picks;
  int32_t zero_point = 0;  // of both
  std::string from, to;    // tensors
  std::string helper;      // names of the constants begin so
};

// Adds lists and constants. Constants of the same name are taken to be the same.
Status add_selection(const program::Program& program, const Selection& selection, LayerTasks& out);

}  // namespace rk::registers
