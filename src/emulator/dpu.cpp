// SPDX-License-Identifier: Apache-2.0
// DPU and DPU_RDMA. Stages in order: bias (BS), batch-norm (BN, used for activations), element-wise (EW), output
// conversion, write. docs/facts/container.md, sections 3.4, 4.2, 4.3.
#include <algorithm>

#include "base/half.h"
#include "emulator/units.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterFile;

constexpr uint32_t kAluAdd = 2;
constexpr int64_t kBiasGroup = 8;
constexpr int64_t kMaxElements = int64_t{1} << 28;
constexpr int64_t kMaxShift = 62;

int64_t scaled(const Unit& unit, int64_t value, int64_t scale, int64_t shift) {
  return scale_round(value, scale, static_cast<int>(shift), unit.ties);
}

Status bias_stage(const Unit& unit, const ChannelConstants& constants, Cube& cube) {
  const RegisterFile& r = unit.registers;
  if (r.is_on(reg::DPU_BS_CFG__BS_BYPASS)) return ok_status();
  const bool adds = !r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS);
  const bool multiplies = !r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS);
  if (adds && r.get(reg::DPU_BS_CFG__BS_ALU_ALGO) != kAluAdd) return unsupported("bias operation");
  // Products below zero have a shift of their own: the leaky activations need it.
  const int64_t shift = r.get(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE);
  const int64_t shift_below = r.get(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG);
  if (shift > kMaxShift || shift_below > kMaxShift)
    return invalid_model("multiplier shift above 62");
  const bool relu = !r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS);
  const bool clip = r.is_on(reg::DPU_BS_CFG__BS_RELUX_EN);
  const int64_t limit = r.get_signed(reg::DPU_BS_RELUX_CMP_VALUE);
  for (int64_t c = 0; c < cube.channels; ++c) {
    const auto channel = static_cast<size_t>(c);
    const int64_t addend = r.is_on(reg::DPU_BS_CFG__BS_ALU_SRC)
                               ? constants.bias[channel]
                               : int64_t{r.get_signed(reg::DPU_BS_ALU_CFG)};
    const int64_t factor =
        r.is_on(reg::DPU_BS_MUL_CFG__BS_MUL_SRC)
            ? constants.multiplier[channel]
            : int64_t{static_cast<int16_t>(r.get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND))};
    for (int64_t i = c * cube.pixels(); i < (c + 1) * cube.pixels(); ++i) {
      int64_t& v = cube.integers[static_cast<size_t>(i)];
      if (adds) v += addend;
      if (multiplies) v = scaled(unit, v * factor, 1, v * factor < 0 ? shift_below : shift);
      if (relu) v = std::max<int64_t>(v, 0);
      if (relu && clip) v = std::min(v, limit);
    }
  }
  return ok_status();
}

// The slope of each channel for values below zero: one register, or a table of int16.
Result<std::vector<int64_t>> read_slopes(const Unit& unit, int64_t channels) {
  const RegisterFile& r = unit.registers;
  const int64_t one = static_cast<int16_t>(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND));
  std::vector<int64_t> out(static_cast<size_t>(channels), one);
  if (!r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC)) return out;
  RK_ASSIGN(const std::span<uint8_t> bytes,
            unit.memory.at(r.get(reg::DPU_RDMA_RDMA_BN_BASE_ADDR), out.size() * 2));
  for (size_t c = 0; c < out.size(); ++c) out[c] = load<int16_t>(bytes.data() + 2 * c);
  return out;
}

// Multiply, add, shift: brings values into the index unit of a lookup table. With PRELU only values
// below zero are multiplied, and nothing is added.
Status norm_arithmetic(const Unit& unit, Cube& cube) {
  const RegisterFile& r = unit.registers;
  const bool adds = !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS);
  const bool multiplies = !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS);
  const bool leaky = r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU);
  if (!adds && !multiplies) return ok_status();
  if (adds &&
      (r.get(reg::DPU_BN_CFG__BN_ALU_ALGO) != kAluAdd || r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC))) {
    return unsupported("a batch-norm operation other than the addition of a constant");
  }
  if (leaky && adds) return unsupported("PRelu and addition in the batch-norm stage");
  if (!leaky && r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC))
    return unsupported("batch-norm factors of each channel");
  const int64_t shift = r.get(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE);
  const int64_t shift_below = r.get(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG);
  if (shift > kMaxShift || shift_below > kMaxShift)
    return invalid_model("batch-norm shift above 62");
  const int64_t addend = adds ? int64_t{r.get_signed(reg::DPU_BN_ALU_CFG)} : 0;
  RK_ASSIGN(const std::vector<int64_t> factors, read_slopes(unit, cube.channels));
  for (int64_t i = 0; i < cube.elements(); ++i) {
    int64_t& v = cube.integers[static_cast<size_t>(i)];
    const int64_t factor = factors[static_cast<size_t>(i / cube.pixels())];
    const bool below = v < 0;
    if (multiplies && (!leaky || below)) v *= factor;
    v = scaled(unit, v + addend, 1, (leaky ? below : v + addend < 0) ? shift_below : shift);
  }
  return ok_status();
}

Status norm_stage(const Unit& unit, Cube& cube) {
  const RegisterFile& r = unit.registers;
  if (r.is_on(reg::DPU_BN_CFG__BN_BYPASS)) return ok_status();
  RK_TRY(norm_arithmetic(unit, cube));
  if (r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS)) return ok_status();
  const bool clip = r.is_on(reg::DPU_BN_CFG__BN_RELUX_EN);
  const int64_t limit = r.get_signed(reg::DPU_BN_RELUX_CMP_VALUE);
  for (int64_t& v : cube.integers) {
    v = std::max<int64_t>(v, 0);
    if (clip) v = std::min(v, limit);
  }
  return ok_status();
}

// Address of a plane of the element-wise operand. In a convolution both read streams fetch it, every second plane each.
uint64_t operand_plane(const RegisterFile& r, int64_t block) {
  const uint64_t stride =
      uint64_t{r.get(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE)} * kAtomBytes;
  const uint64_t second = r.get(reg::DPU_RDMA_RDMA_EW_BASE_ADDR);
  if (r.get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE) == 0) {
    return second + static_cast<uint64_t>(block) * stride;
  }
  const uint64_t base = block % 2 == 0 ? r.get(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR) : second;
  return base + static_cast<uint64_t>(block / 2) * 2 * stride;
}

Status elementwise_stage(const Unit& unit, Cube& cube) {
  const RegisterFile& r = unit.registers;
  if (r.is_on(reg::DPU_EW_CFG__EW_BYPASS)) return ok_status();
  if (!r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS)) {
    if (!r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS)) return unsupported("a table and an operand");
    for (int64_t& v : cube.integers) {
      RK_ASSIGN(v, look_up(unit, v));
    }
    return ok_status();
  }
  const bool relu = !r.is_on(reg::DPU_EW_CFG__EW_RELU_BYPASS);
  if (relu && r.is_on(reg::DPU_EW_CFG__EW_RELUX_EN)) return unsupported("clip after the addition");
  const bool adds = !r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS);
  if (adds &&
      (r.get(reg::DPU_EW_CFG__EW_ALU_ALGO) != kAluAdd || r.is_on(reg::DPU_EW_CFG__EW_OP_TYPE) ||
       !r.is_on(reg::DPU_EW_CFG__EW_OP_SRC) || r.get(reg::DPU_EW_CFG__EDATA_SIZE) != 1)) {
    return unsupported("element-wise operation other than the addition of int8");
  }
  const bool converts = !r.is_on(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS);
  const int64_t offset = converts ? r.get_signed(reg::DPU_EW_CVT_OFFSET_VALUE) : 0;
  const int64_t scale =
      converts ? r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE) : uint32_t{1};
  const int64_t shift =
      converts ? r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT) : uint32_t{0};
  if (shift > kMaxShift) return invalid_model("operand shift above 62");
  for (int64_t block = 0; adds && block * kAtomBytes < cube.channels; ++block) {
    RK_ASSIGN(
        const std::span<uint8_t> plane,
        unit.memory.at(operand_plane(r, block), static_cast<uint64_t>(cube.pixels() * kAtomBytes)));
    const int64_t end = std::min(cube.channels, (block + 1) * kAtomBytes);
    for (int64_t c = block * kAtomBytes; c < end; ++c) {
      for (int64_t i = 0; i < cube.pixels(); ++i) {
        const auto e =
            static_cast<int8_t>(plane[static_cast<size_t>(i * kAtomBytes + c % kAtomBytes)]);
        cube.integers[static_cast<size_t>(c * cube.pixels() + i)] +=
            scaled(unit, e + offset, scale, shift);
      }
    }
  }
  if (relu) {
    for (int64_t& v : cube.integers) v = std::max<int64_t>(v, 0);
  }
  return ok_status();
}

Status output_stage(const Unit& unit, Cube& cube) {
  const RegisterFile& r = unit.registers;
  const int64_t scale = r.get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE);
  const int64_t shift = r.get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT);
  const int64_t offset = r.get_signed(reg::DPU_OUT_CVT_OFFSET);
  if (r.is_on(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP)) return unsupported("output exponent");
  if (shift > kMaxShift) return invalid_model("output shift above 62");
  for (int64_t& v : cube.integers) v = saturate_i8(scaled(unit, v, scale, shift) + offset);
  return ok_status();
}

// Where pixel (y, x) of channel block `block` is written. A write cube whose width differs from the data's scatters
// pixels: x steps over NOTCH pixels and rows are SURF_ADD apart (the phases of a resize).
struct WritePlan {
  uint64_t base = 0, block_bytes = 0, row_bytes = 0, pixel_bytes = kAtomBytes;
};

WritePlan write_plan(const RegisterFile& r, const Cube& cube) {
  WritePlan plan;
  plan.base = r.get(reg::DPU_DST_BASE_ADDR);
  plan.block_bytes = uint64_t{r.get(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE)} * kAtomBytes;
  const uint64_t notch = r.get(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0);
  const auto width = static_cast<uint64_t>(cube.width);
  if (r.get(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA) + 1 == width) {
    plan.row_bytes = (width + notch) * kAtomBytes;
  } else {
    plan.pixel_bytes = (1 + notch) * kAtomBytes;
    plan.row_bytes = uint64_t{r.get(reg::DPU_SURFACE_ADD__SURF_ADD)} * kAtomBytes;
  }
  return plan;
}

Status write_cube(const Unit& unit, const Cube& cube) {
  const WritePlan plan = write_plan(unit.registers, cube);
  const int64_t lanes = cube.is_float ? kAtomBytes / 2 : kAtomBytes;
  for (int64_t c0 = 0; c0 < cube.channels; c0 += lanes) {
    for (int64_t y = 0; y < cube.height; ++y) {
      for (int64_t x = 0; x < cube.width; ++x) {
        const uint64_t at = plan.base + static_cast<uint64_t>(c0 / lanes) * plan.block_bytes +
                            static_cast<uint64_t>(y) * plan.row_bytes +
                            static_cast<uint64_t>(x) * plan.pixel_bytes;
        RK_ASSIGN(const std::span<uint8_t> atom, unit.memory.at(at, kAtomBytes));
        std::fill(atom.begin(), atom.end(), uint8_t{0});
        for (int64_t c = c0; c < std::min(c0 + lanes, cube.channels); ++c) {
          const auto from = static_cast<size_t>((c * cube.height + y) * cube.width + x);
          const auto lane = static_cast<size_t>(c - c0);
          if (cube.is_float) {
            const uint16_t half = float_to_half(cube.floats[from]);
            std::memcpy(atom.data() + 2 * lane, &half, 2);
          } else {
            atom[lane] = static_cast<uint8_t>(cube.integers[from]);
          }
        }
      }
    }
  }
  return ok_status();
}

}  // namespace

Result<ChannelConstants> read_channel_constants(const Unit& unit, int64_t channels) {
  const RegisterFile& r = unit.registers;
  constexpr uint32_t kNothing = 0, kBiasOnly = 1, kAll = 7;
  ChannelConstants out;
  const auto count = static_cast<size_t>(channels);
  const bool one_offset =
      !r.is_on(reg::DPU_BS_OW_CFG__OW_SRC) && !r.is_on(reg::DPU_BS_OW_CFG__OD_BYPASS);
  out.bias.assign(count, 0);
  out.offset.assign(count, one_offset ? static_cast<int16_t>(r.get(reg::DPU_BS_OW_OP__OW_OP)) : 0);
  out.multiplier.assign(count, 0);
  const uint32_t use = r.get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE);
  const uint64_t base = r.get(reg::DPU_RDMA_RDMA_BS_BASE_ADDR);
  if (use == kNothing) return out;
  if (use == kBiasOnly) {
    RK_ASSIGN(const std::span<uint8_t> bytes, unit.memory.at(base, count * 4));
    for (size_t c = 0; c < count; ++c) out.bias[c] = load<int32_t>(bytes.data() + 4 * c);
    return out;
  }
  if (use != kAll) return unsupported(str("bias block form ", use));
  const int64_t groups = (channels + kBiasGroup - 1) / kBiasGroup;
  RK_ASSIGN(const std::span<uint8_t> bytes,
            unit.memory.at(base, static_cast<uint64_t>(groups * kBiasGroup * 8)));
  for (size_t c = 0; c < count; ++c) {
    const uint8_t* const group = bytes.data() + c / kBiasGroup * kBiasGroup * 8;
    const size_t lane = c % kBiasGroup;
    out.bias[c] = load<int32_t>(group + 4 * lane);
    out.offset[c] = load<int16_t>(group + 4 * kBiasGroup + 2 * lane);
    out.multiplier[c] = load<int16_t>(group + 6 * kBiasGroup + 2 * lane);
  }
  return out;
}

Result<int64_t> look_up(const Unit& unit, int64_t index) {
  const RegisterFile& r = unit.registers;
  const int64_t le_start = r.get_signed(reg::DPU_LUT_LE_START);
  const int64_t lo_start = r.get_signed(reg::DPU_LUT_LO_START);
  const int64_t lo_end = r.get_signed(reg::DPU_LUT_LO_END);
  const auto& [le, lo] = unit.tables.entries;
  constexpr int64_t kLast = LookupTables::kEntries - 1;
  if (index < le_start) {
    const int64_t slope = r.get(reg::DPU_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_UFLOW_SCALE);
    const int64_t shift = r.get(reg::DPU_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT);
    return le.front() + scaled(unit, index - le_start, slope, shift);
  }
  if (index > lo_end) {
    const int64_t slope = r.get(reg::DPU_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE);
    const int64_t shift = r.get(reg::DPU_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT);
    return lo.back() + scaled(unit, index - lo_end, slope, shift);
  }
  const bool lower = index < lo_start;
  const auto& table = lower ? le : lo;
  const int64_t step = r.get(lower ? reg::DPU_LUT_INFO__LUT_LE_INDEX_SELECT
                                   : reg::DPU_LUT_INFO__LUT_LO_INDEX_SELECT);
  const int64_t distance = index - (lower ? le_start : lo_start);
  const int64_t entry = step < kMaxShift ? distance >> step : 0;
  if (entry > kLast) return invalid_model("a table's range is longer than its entries");
  if (entry == kLast) return table.back();
  const auto at = static_cast<size_t>(entry);
  const int64_t rest = distance - (entry << step);
  return table[at] + scaled(unit, table[at + 1] - table[at], rest, step);
}

Result<Cube> read_source(const Unit& unit) {
  const RegisterFile& r = unit.registers;
  if (r.get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION) != 0) {
    return unsupported("copies of other than int8");
  }
  Cube out;
  out.width = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH) + 1;
  out.height = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__HEIGHT) + 1;
  out.channels = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL) + 1;
  if (out.elements() > kMaxElements) return invalid_model("a copy of more than 2^28 elements");
  const int64_t row = out.width + r.get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__LINE_NOTCH_ADDR);
  // After the last row comes the surface notch in place of the line notch.
  const int64_t plane =
      (out.height - 1) * row + out.width + r.get(reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR);
  const uint64_t base = r.get(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
  out.integers.resize(static_cast<size_t>(out.elements()));
  for (int64_t c0 = 0; c0 < out.channels; c0 += kAtomBytes) {
    for (int64_t y = 0; y < out.height; ++y) {
      const int64_t at = (c0 / kAtomBytes * plane + y * row) * kAtomBytes;
      RK_ASSIGN(const std::span<uint8_t> line,
                unit.memory.at(base + static_cast<uint64_t>(at),
                               static_cast<uint64_t>(out.width * kAtomBytes)));
      for (int64_t c = c0; c < std::min(c0 + kAtomBytes, out.channels); ++c) {
        for (int64_t x = 0; x < out.width; ++x) {
          out.integers[static_cast<size_t>((c * out.height + y) * out.width + x)] =
              static_cast<int8_t>(line[static_cast<size_t>(x * kAtomBytes + c - c0)]);
        }
      }
    }
  }
  return out;
}

Status process_and_write(const Unit& unit, Cube cube) {
  const RegisterFile& r = unit.registers;
  if (cube.is_float) {
    if (!r.is_on(reg::DPU_BS_CFG__BS_BYPASS) || !r.is_on(reg::DPU_BN_CFG__BN_BYPASS) ||
        !r.is_on(reg::DPU_EW_CFG__EW_BYPASS)) {
      return unsupported("float16 stages of the DPU");
    }
    return write_cube(unit, cube);
  }
  RK_ASSIGN(const ChannelConstants constants, read_channel_constants(unit, cube.channels));
  RK_TRY(bias_stage(unit, constants, cube));
  RK_TRY(norm_stage(unit, cube));
  RK_TRY(elementwise_stage(unit, cube));
  RK_TRY(output_stage(unit, cube));
  return write_cube(unit, cube);
}

}  // namespace rk::emulator
