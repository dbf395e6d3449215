// SPDX-License-Identifier: Apache-2.0
// Tasks of the DPU that rearrange atoms of 16 bytes and compute nothing: transposition of blocks
// within the atoms, pixels that become planes, and nearest enlargement. The meaning of the fields
// follows from the transposes, reshapes and resizes of the vendor files whose results they
// reproduce (docs/fidelity.md).
#include <algorithm>

#include "emulator/units.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterFile;

constexpr int64_t kMaxAtoms = int64_t{1} << 24;

// The source as the read unit delivers it: planes, in them rows, in them pixels.
struct Source {
  int64_t planes = 0, height = 0, width = 0, atom_bytes = 16;
  std::vector<uint8_t> bytes;

  const uint8_t* atom(int64_t index) const { return bytes.data() + index * atom_bytes; }
  int64_t atoms() const { return planes * height * width; }
};

Result<Source> read_atoms(const Unit& unit) {
  const RegisterFile& r = unit.registers;
  RK_ASSIGN(const Precision in,
            to_precision(r.get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION)));
  const int64_t atom_bytes = unit.chip.atom_bytes, lanes = atom_bytes / element_bytes(in);
  Source out;
  out.atom_bytes = atom_bytes;
  out.width = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH) + 1;
  out.height = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__HEIGHT) + 1;
  out.planes = (r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL) + lanes) / lanes;
  if (out.atoms() > kMaxAtoms) return invalid_model("a copy of more than 2^24 atoms");
  const int64_t row = out.width + r.get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__LINE_NOTCH_ADDR);
  const int64_t notch = static_cast<int32_t>(r.get(reg::DPU_RDMA_RDMA_SURF_NOTCH)) / kStrideUnit;
  const int64_t plane = (out.height - 1) * row + out.width + notch;
  const int64_t base = r.get(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
  const int64_t line_bytes = out.width * atom_bytes;
  out.bytes.reserve(static_cast<size_t>(out.atoms() * atom_bytes));
  for (int64_t p = 0; p < out.planes; ++p) {
    for (int64_t y = 0; y < out.height; ++y) {
      const auto at = static_cast<uint32_t>(base + (p * plane + y * row) * atom_bytes);
      RK_ASSIGN(const std::span<uint8_t> line,
                unit.memory.at(at, static_cast<uint64_t>(line_bytes)));
      out.bytes.insert(out.bytes.end(), line.begin(), line.end());
    }
  }
  return out;
}

Status write_atom(const Unit& unit, int64_t place, const uint8_t* from) {
  const int64_t bytes = unit.chip.atom_bytes;
  const int64_t at = unit.registers.get(reg::DPU_DST_BASE_ADDR) + place * bytes;
  RK_ASSIGN(const std::span<uint8_t> to,
            unit.memory.at(static_cast<uint32_t>(at), static_cast<uint64_t>(bytes)));
  std::copy(from, from + bytes, to.begin());
  return ok_status();
}

// Where block (c, h, w) begins, and how far its rows are apart; in atoms.
struct BlockPlan {
  int64_t c = 0, h = 0, w = 0;
  int64_t c_step = 0, h_step = 0, row_step = 0;

  int64_t start(int64_t block) const {
    return block / (h * w) * c_step + block / w % h * h_step + block % w;
  }
};

BlockPlan block_plan(const RegisterFile& r) {
  BlockPlan plan;
  plan.c = int64_t{r.get(reg::DPU_WDMA_SIZE_0__SIZE_C_WDMA)} + 1;
  plan.h = int64_t{r.get(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA)} + 1;
  plan.w = int64_t{r.get(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA)} + 1;
  plan.c_step = r.get(reg::DPU_SURFACE_ADD__SURF_ADD);
  plan.h_step = plan.w + r.get(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0);
  plan.row_step = r.get(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE);
  return plan;
}

// Square blocks: 16 atoms of 16 bytes, or 8 atoms of 8 numbers of 16 bits. A block of bytes is written as two halves of
// eight rows, which lie apart like two rows of blocks.
Status transpose_blocks(const Unit& unit, const Source& source) {
  const RegisterFile& r = unit.registers;
  constexpr int64_t kAtomBytes = 16;
  if (unit.chip.atom_bytes != kAtomBytes) return unsupported("transposition of other atoms");
  BlockPlan plan = block_plan(r);
  const bool wide = r.is_on(reg::DPU_WDMA_SIZE_0__TP_PRECISION);
  const int64_t side = wide ? 8 : 16, bytes = kAtomBytes / side;
  if (!wide && plan.h % 2 != 0) return unsupported("half a block of bytes to transpose");
  const int64_t halves = wide ? 1 : 2;
  const int64_t half_step = plan.h_step;
  plan.h /= halves;
  plan.h_step *= halves;
  const int64_t blocks = std::min(source.atoms() / side, plan.c * plan.h * plan.w);
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t row = 0; row < side; ++row) {
      uint8_t atom[kAtomBytes];
      for (int64_t column = 0; column < side; ++column) {
        const uint8_t* const from = source.atom(block * side + column) + row * bytes;
        std::copy(from, from + bytes, atom + column * bytes);
      }
      const int64_t place =
          plan.start(block) + row / 8 * (wide ? 0 : half_step) + row % 8 * plan.row_step;
      RK_TRY(write_atom(unit, place, atom));
    }
  }
  return ok_status();
}

// Groups of up to eight neighboring atoms, each of which goes to a plane of its own.
Status spread_pixels(const Unit& unit, const Source& source) {
  const RegisterFile& r = unit.registers;
  const BlockPlan plan = block_plan(r);
  const int64_t group = int64_t{r.get(reg::DPU_BS_OW_CFG__SIZE_E_0)} + 1;
  const int64_t blocks = std::min(source.atoms() / group, plan.c * plan.h * plan.w);
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < group; ++i)
      RK_TRY(
          write_atom(unit, plan.start(block) + i * plan.row_step, source.atom(block * group + i)));
  }
  return ok_status();
}

// Every pixel of a plane fills a rectangle.
Status enlarge(const Unit& unit, const Source& source) {
  const RegisterFile& r = unit.registers;
  if (source.planes != 1) return unsupported("unpooling of more than one plane");
  const int64_t times_x = r.get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__KERNEL_WIDTH) + 1;
  const int64_t times_y = r.get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__KERNEL_HEIGHT) + 1;
  const int64_t row_step =
      source.width * times_x + r.get(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0);
  const int64_t copy_step = r.get(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE);
  for (int64_t y = 0; y < source.height * times_y; ++y) {
    for (int64_t x = 0; x < source.width * times_x; ++x)
      RK_TRY(write_atom(unit, y / times_y * row_step + y % times_y * copy_step + x,
                        source.atom(y / times_y * source.width + x / times_x)));
  }
  return ok_status();
}

bool computes_nothing(const RegisterFile& r) {
  return r.is_on(reg::DPU_BS_CFG__BS_BYPASS) && r.is_on(reg::DPU_BN_CFG__BN_BYPASS) &&
         r.is_on(reg::DPU_EW_CFG__EW_BYPASS) && r.get(reg::DPU_OUT_CVT_OFFSET) == 0 &&
         r.get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE) == 1 &&
         r.get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT) == 0;
}

}  // namespace

bool moves_atoms(const RegisterFile& r) {
  return r.is_on(reg::DPU_BS_OW_CFG__TP_ORG_EN) || r.is_on(reg::DPU_FEATURE_MODE_CFG__TP_EN) ||
         r.is_on(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__UNPOOLING_EN);
}

Status move_atoms(const Unit& unit) {
  const RegisterFile& r = unit.registers;
  if (!computes_nothing(r)) return unsupported("a transposition with arithmetic");
  RK_ASSIGN(const Source source, read_atoms(unit));
  if (r.is_on(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__UNPOOLING_EN)) return enlarge(unit, source);
  return r.is_on(reg::DPU_BS_OW_CFG__TP_ORG_EN) ? transpose_blocks(unit, source)
                                                : spread_pixels(unit, source);
}

}  // namespace rk::emulator
