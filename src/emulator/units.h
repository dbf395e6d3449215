// SPDX-License-Identifier: Apache-2.0
// The units of one core: what a convolution sums up, and what the DPU makes of a cube of values on its way to memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fixed_point.h"
#include "base/status.h"
#include "emulator/emulator.h"
#include "target/registers.h"

namespace rk::emulator {

inline constexpr int64_t kAtomBytes = 16;  // a pixel of one channel block

// Values between units, [C, H, W]. Integer precision uses `integers`, float16 `floats` (fp32 inside).
struct Cube {
  bool is_float = false;
  int64_t channels = 0, height = 0, width = 0;
  std::vector<int64_t> integers;
  std::vector<float> floats;

  int64_t pixels() const { return height * width; }
  int64_t elements() const { return channels * pixels(); }
};

struct Unit {
  const target::RegisterFile& registers;
  const LookupTables& tables;
  Memory& memory;
  TieRule ties;
};

// CNA and CORE: fetches feature and weights, returns the accumulators of the real output channels.
Result<Cube> convolve(const Unit& unit);
// DPU_RDMA as the source of a task without convolution.
Result<Cube> read_source(const Unit& unit);
// DPU: bias, multiplier, activation, table, element-wise operand, output conversion, and the write.
Status process_and_write(const Unit& unit, Cube cube);
// PPU and PPU_RDMA: largest value or average of windows, from memory to memory.
Status pool(const Unit& unit);

// The table's value at `index`: linear between entries, a line of its own slope beyond either end
// (docs/facts/container.md, "Lookup tables"). May exceed 16 bits.
Result<int64_t> look_up(const Unit& unit, int64_t index);

// Per output channel, as DPU_RDMA fetches it for the bias stage.
struct ChannelConstants {
  std::vector<int64_t> bias, offset, multiplier;
};
Result<ChannelConstants> read_channel_constants(const Unit& unit, int64_t channels);

}  // namespace rk::emulator
