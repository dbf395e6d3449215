// SPDX-License-Identifier: Apache-2.0
// The register list of a MaxPool for RK3588: the units PPU and PPU_RDMA, from memory to memory.
#pragma once

#include "base/status.h"
#include "program/program.h"
#include "registers/convolution.h"
#include "registers/task.h"

namespace rk::registers {

struct PoolLayer {
  program::PoolParams params;  // kMax
  Feature in, out;
};

// The layer of a step; kUnsupported says which part of it no list has.
Result<PoolLayer> pool_layer(const program::Program& program, const program::Variant& variant,
                             const program::Step& step);

RegisterTask write_max_pool(const PoolLayer& layer);

}  // namespace rk::registers
