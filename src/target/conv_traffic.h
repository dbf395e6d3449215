// SPDX-License-Identifier: Apache-2.0
// What a convolution reads and writes besides what its geometry says. Model outputs count as they are stored: with the
// channels that the array computes, and float16 ones behind an activation by table with all their copies; whoever reads
// such a tensor again reads all of it. Weights that sparse_infer skips are neither stored nor read.
#pragma once

#include "target/cost.h"

namespace rk::target {

struct ConvTraffic {
  bool writes_output = false;
  int written_copies = 1;
  bool reads_output = false;
  int read_copies = 1;
  int skip = 1;  // 2, 4: of so many weights one is stored
};

// Note: the cycles of the array are those of the dense layer, as the vendor's compiler prints them.
NpuCost conv_cost(const Target& target, const ConvGeometry& geometry, const ConvTraffic& traffic);

// An int8 convolution that the chip computes as two float16 ones, each with half of the input channels: its kernels are
// too deep for the buffer of two cores.
bool runs_as_halves(const Target& target, const ConvGeometry& geometry);

// Groups whose channels fill blocks of features are convolutions of their own; others run as one dense convolution.
bool runs_by_group(const Target& target, const ConvGeometry& geometry);

}  // namespace rk::target
