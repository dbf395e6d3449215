// SPDX-License-Identifier: Apache-2.0
// The units of one core: what a convolution sums up, and what the DPU makes of a cube of values on its way to memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fixed_point.h"
#include "base/status.h"
#include "emulator/emulator.h"
#include "target/registers.h"
#include "target/target.h"

namespace rk::emulator {

// What the chips do in different ways. Registers are brought into the positions of RK3588 (registers_of_task, rk3566.cpp), strides
// among them counted in atoms.
struct Chip {
  int64_t atom_bytes = 16;    // a pixel of one channel block
  int64_t bias_group = 8;     // channels of a bias block
  int64_t kernel_group = 32;  // output channels of a block of int8 weights
  int64_t depthwise_group = 64;
  int64_t least_lanes = 16;           // of the last block of input channels, in int8
  int64_t input_block_bytes = 0;      // of a block's input channels; 0: 32 channels of any type
  int64_t depthwise_least_lanes = 0;  // of the last block of depthwise weights; 0: least_lanes
  int64_t paired_least_lanes = 16;    // the same with offsets between them
  int64_t picture_lanes = 0;          // of a picture's weights; 0: least_lanes
  bool is_rk3566 = false;
  bool is_rk3562 = false;  // registers of RK3562, or close to them
  bool is_rk3576 = false;
  bool is_rv1106 = false;  // registers of RK3562 in the places of RK3588
};

inline constexpr int64_t kStrideUnit = 16;  // of registers that count atoms from bit 4 on

// What a precision field of any unit selects.
enum class Precision : uint32_t { kI8 = 0, kI16 = 1, kF16 = 2, kBf16 = 3, kI32 = 4, kF32 = 5 };
Result<Precision> to_precision(uint32_t field);
constexpr bool is_float(Precision p) {
  return p == Precision::kF16 || p == Precision::kBf16 || p == Precision::kF32;
}
constexpr int64_t element_bytes(Precision p) {
  return p == Precision::kI8 ? 1 : p == Precision::kI32 || p == Precision::kF32 ? 4 : 2;
}
// One element in memory. Integers up to 32 bits are exact in a double.
double load_element(Precision precision, const uint8_t* from);
void store_element(Precision precision, double value, uint8_t* to);

// Values between units, [C, H, W]. Integer precision uses `integers`, the others `floats` (fp32 inside).
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
  const Chip& chip;
  bool weights_in_rows = false;  // RK3576: of a picture, four columns of the kernel after another
  // How the chip codes weights, and the registers as the list wrote them, which say where the code
  // lies.
  target::WeightCode weight_code = target::WeightCode::kNone;
  const target::RegisterFile* listed = nullptr;
};

// The registers of a task of RK3566 in the positions of RK3588, strides in atoms.
target::RegisterFile registers_of_task(const target::RegisterFile& raw);

// The registers of a task of RK3576 or RV1126B in the form of RK3562.
Result<target::RegisterFile> registers_of_rk3576(const target::RegisterFile& raw, uint32_t units,
                                                 Memory& memory);

// CNA and CORE: fetches feature and weights, returns the accumulators of the real output channels.
Result<Cube> convolve(const Unit& unit);
// DPU_RDMA as the source of a task without convolution.
Result<Cube> read_source(const Unit& unit);
// DPU: bias, multiplier, activation, table, element-wise operand, output conversion, and the write.
Status process_and_write(const Unit& unit, Cube cube);
// DPU and DPU_RDMA where a list only rearranges what is in memory.
bool moves_atoms(const target::RegisterFile& registers);
Status move_atoms(const Unit& unit);
// PPU and PPU_RDMA: largest value or average of windows, from memory to memory.
Status pool(const Unit& unit);

// The table's value at `index`: linear between entries, a line of its own slope beyond either end
// (docs/facts/container.md, "Lookup tables"). May exceed 16 bits.
Result<int64_t> look_up(const Unit& unit, int64_t index);

// Per output channel, as DPU_RDMA fetches it for the bias stage. Float precisions use bias and multiplier only.
struct ChannelConstants {
  std::vector<double> bias, offset, multiplier;
};
// RK3562: offsets of a depthwise layer lie between its weights, and its block of constants has
// none.
bool has_paired_offsets(const Unit& unit);
Result<ChannelConstants> read_channel_constants(const Unit& unit, int64_t channels,
                                                Precision precision);
// The same for the batch-norm stage: an addend or a factor of each channel.
Result<ChannelConstants> read_norm_constants(const Unit& unit, int64_t channels,
                                             Precision precision);
// The second operand of the element-wise stage, one value per element of the cube.
Result<std::vector<double>> read_operand(const Unit& unit, const Cube& cube, Precision precision);

}  // namespace rk::emulator
