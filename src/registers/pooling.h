// SPDX-License-Identifier: Apache-2.0
// The register list of a MaxPool for RK3588: the units PPU and PPU_RDMA, from memory to memory.
#pragma once

#include <vector>

#include "base/status.h"
#include "program/program.h"
#include "registers/convolution.h"
#include "registers/task.h"

namespace rk::registers {

struct PoolLayer {
  program::PoolParams params;  // averages in float16 only
  Feature in, out;
};

// The layer of a step; kUnsupported says which part of it no list has.
Result<PoolLayer> pool_layer(const program::Program& program, const program::Variant& variant,
                             const program::Step& step);

// Columns of the output that one list computes.
struct PoolPart {
  int64_t first_column = 0, columns = 0;
};

// Parts whose input is no wider than the unit takes at a time.
std::vector<PoolPart> cut_pool(const PoolLayer& layer);

RegisterTask write_pool(const PoolLayer& layer, const PoolPart& part);

}  // namespace rk::registers
