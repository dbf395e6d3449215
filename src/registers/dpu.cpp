// SPDX-License-Identifier: Apache-2.0
#include "registers/dpu.h"

#include <algorithm>
#include <bit>

#include "base/checked_math.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;

constexpr uint32_t kUnits = 0x18;  // DPU, DPU_RDMA
constexpr int64_t kHalf = 2;       // of precision fields: float16
constexpr int64_t kMostExtent = 8191, kMostChannels = 8192;
constexpr int64_t kAddition = 2, kLongestBurst = 15, kToMemory = 2;

// Registers of a list, in its order.
constexpr uint16_t kOrder[] = {
    0x4004, 0x5004, 0x400c, 0x4010, 0x4014, 0x4020, 0x4024, 0x4030, 0x4034, 0x4038, 0x403c, 0x4040,
    0x4044, 0x4048, 0x404c, 0x4050, 0x4054, 0x4058, 0x405c, 0x4060, 0x4064, 0x4068, 0x406c, 0x4070,
    0x4074, 0x4078, 0x407c, 0x4080, 0x4084, 0x4088, 0x4090, 0x4094, 0x4098, 0x409c, 0x40a0, 0x40a4,
    0x40a8, 0x40ac, 0x40c0, 0x40c4, 0x4100, 0x4104, 0x4108, 0x410c, 0x4110, 0x4114, 0x4118, 0x411c,
    0x4120, 0x4124, 0x4128, 0x412c, 0x500c, 0x5010, 0x5014, 0x5018, 0x501c, 0x5020, 0x5028, 0x502c,
    0x5034, 0x5038, 0x5040, 0x5044, 0x5048, 0x504c, 0x5064, 0x5068, 0x506c};

void write_extents(const DpuTask& t, RegisterImage& image) {
  image.set(reg::DPU_FEATURE_MODE_CFG__FLYING_MODE, 1);
  image.set(reg::DPU_FEATURE_MODE_CFG__OUTPUT_MODE, kToMemory);
  image.set(reg::DPU_FEATURE_MODE_CFG__BURST_LEN, kLongestBurst);
  image.set_address(reg::DPU_DST_BASE_ADDR, Operand::kOutput, t.out_bytes);
  image.set(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE, t.out_plane);
  image.set(reg::DPU_DATA_CUBE_WIDTH__WIDTH, t.width - 1);
  image.set(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT, t.height - 1);
  image.set(reg::DPU_DATA_CUBE_CHANNEL__CHANNEL, t.channels - 1);
  const bool counts =
      (t.chip->is_rk3566 || t.chip->is_rk3562 || t.beyond || t.to_half) && t.real_channels != 0;
  image.set(reg::DPU_OFFSET_PEND__OFFSET_PEND, t.beyond.value_or(0));
  image.set(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0, t.out_row_gap);
  image.set(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_1, t.out_row_gap);
  image.set(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL, (counts ? t.real_channels : t.channels) - 1);
  image.set(reg::DPU_BS_OW_CFG__OD_BYPASS, 1);
  image.set(reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA, t.channels - 1);
  image.set(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA, t.width - 1);
  image.set(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA, t.height - 1);
  image.set(reg::DPU_SURFACE_ADD__SURF_ADD, t.out_plane);
  image.set(reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH, t.width - 1);
  image.set(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__HEIGHT, t.height - 1);
  image.set(reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL, t.channels - 1);
  image.set_address(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, Operand::kFeature, t.source_bytes);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__FLYING_MODE, 1);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__BURST_LEN, kLongestBurst);
  image.set(reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR, t.source_plane - t.height * t.width);
  image.set(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__LINE_NOTCH_ADDR, t.source_row_gap);
  image.set(reg::DPU_RDMA_RDMA_WEIGHT, 0x01010101);
}

void write_half_source(const DpuTask& t, RegisterImage& image) {
  const bool adds = !t.to_int8;
  image.set(reg::DPU_BS_CFG__BS_ALU_ALGO, adds ? kAddition : 0);
  image.set(reg::DPU_BS_CFG__BS_ALU_BYPASS, adds ? 0 : 1);
  image.set(reg::DPU_BS_ALU_CFG, adds ? std::bit_cast<uint32_t>(t.half_source->addend) : 0);
  image.set(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND, t.half_source->factor);
}

void write_source(const DpuTask& t, RegisterImage& image) {
  image.set(reg::DPU_BS_CFG__BS_RELU_BYPASS, 1);
  if (t.half_source) return write_half_source(t, image);
  if (!t.source) {
    image.set(reg::DPU_BS_CFG__BS_BYPASS, 1);
    image.set(reg::DPU_BS_CFG__BS_ALU_BYPASS, 1);
    image.set(reg::DPU_BS_CFG__BS_MUL_BYPASS, 1);
    return;
  }
  image.set(reg::DPU_BS_CFG__BS_ALU_ALGO, kAddition);
  image.set(reg::DPU_BS_ALU_CFG, static_cast<uint32_t>(t.source->offset));
  const bool multiplies = t.source->scale != ScaleShift{1, 0};
  image.set(reg::DPU_BS_CFG__BS_MUL_BYPASS, multiplies ? 0 : 1);
  if (!multiplies) return;
  image.set(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND, t.source->scale.scale);
  image.set(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE, t.source->scale.shift);
  image.set(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG, t.source->scale.shift);
}

// Entries of a table lie 32 steps apart, from -16384 to 0 and on to 16384; a stored byte is multiplied by 128, so that
// every fourth entry is the result of one byte.
constexpr int64_t kTableStart = -16384, kEntryShift = 5, kPerByte = 128, kEntriesPerByte = 4;

void write_lookup(const DpuTask& t, RegisterImage& image) {
  image.set(reg::DPU_BN_CFG__BN_RELU_BYPASS, 1);
  if (t.to_int8) {
    image.set(reg::DPU_BN_CFG__BN_ALU_ALGO, kAddition);
    image.set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 1);
    image.set(reg::DPU_BN_ALU_CFG, std::bit_cast<uint32_t>(t.half_source->addend));
    return;
  }
  if (!t.looks_up && t.lookup_factor == 0) {
    image.set(reg::DPU_BN_CFG__BN_BYPASS, 1);
    image.set(reg::DPU_BN_CFG__BN_ALU_BYPASS, 1);
    image.set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 1);
    return;
  }
  image.set(reg::DPU_BN_CFG__BN_ALU_ALGO, kAddition);
  image.set(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND, t.looks_up ? kPerByte : t.lookup_factor);
  if (!t.looks_up) {
    constexpr int64_t kResultShift = 15;
    image.set(reg::DPU_BN_ALU_CFG, std::bit_cast<uint32_t>(t.lookup_addend));
    image.set(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP, kResultShift);
  }
  image.set(reg::DPU_LUT_CFG__LUT_LO_LE_MUX, 2);
  image.set(reg::DPU_LUT_CFG__LUT_OFLOW_PRIORITY, 1);
  image.set(reg::DPU_LUT_CFG__LUT_HYBRID_PRIORITY, 1);
  image.set(reg::DPU_LUT_INFO__LUT_LE_INDEX_SELECT, kEntryShift);
  image.set(reg::DPU_LUT_INFO__LUT_LO_INDEX_SELECT, kEntryShift);
  image.set(reg::DPU_LUT_LE_START, static_cast<uint32_t>(kTableStart));
  image.set(reg::DPU_LUT_LO_END, static_cast<uint32_t>(-kTableStart));
}

int64_t algorithm_of(Join join) {
  constexpr int64_t kQuotient = 3, kDifference = 4;
  return join == Join::kSum          ? kAddition
         : join == Join::kDifference ? kDifference
         : join == Join::kQuotient   ? kQuotient
                                     : 0;
}

void write_addend(const DpuTask& t, RegisterImage& image) {
  const bool looks_up = t.looks_up || t.lookup_factor != 0;
  image.set(reg::DPU_EW_CFG__EW_LUT_BYPASS, looks_up ? 0 : 1);
  image.set(reg::DPU_EW_CFG__EW_RELU_BYPASS, t.activation == program::Activation::kNone ? 1 : 0);
  if (!t.addend) {
    image.set(reg::DPU_EW_CFG__EW_BYPASS, looks_up ? 0 : 1);
    image.set(reg::DPU_EW_CFG__EW_OP_BYPASS, 1);
    image.set(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS, 1);
    image.set(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE, 1);
    image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DISABLE, 1);
    return;
  }
  const int64_t size = t.is_float ? 2 : 1;
  image.set(reg::DPU_EW_CFG__EW_OP_SRC, 1);
  const bool converts = t.join != Join::kProduct && t.join != Join::kQuotient;
  image.set(reg::DPU_EW_CFG__EW_ALU_ALGO, algorithm_of(t.join));
  image.set(reg::DPU_EW_CFG__EW_OP_TYPE, t.join == Join::kProduct ? 1 : 0);
  image.set(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS, converts ? 0 : 1);
  image.set(reg::DPU_EW_CFG__EDATA_SIZE, size);
  image.set(reg::DPU_EW_CFG__EW_DATA_MODE, 1);
  image.set(reg::DPU_EW_CFG__EW_CVT_TYPE, t.is_float ? 0 : 1);
  image.set(reg::DPU_EW_CVT_OFFSET_VALUE, static_cast<uint32_t>(t.addend->offset));
  image.set(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE, t.addend->scale.scale);
  image.set(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT, t.addend->scale.shift);
  image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE, size);
  image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_MODE, 1);
  image.set_address(reg::DPU_RDMA_RDMA_EW_BASE_ADDR, Operand::kAddend, t.addend_bytes);
  image.set(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE, t.addend_plane);
  image.set(reg::DPU_RDMA_RDMA_EW_SURF_NOTCH__EW_SURF_NOTCH, t.addend_plane - t.height * t.width);
}

// Numbers are float32 inside.
void write_half(RegisterImage& image) {
  image.set(reg::DPU_DATA_FORMAT__PROC_PRECISION, kHalf);
  image.set(reg::DPU_DATA_FORMAT__IN_PRECISION, kHalf);
  image.set(reg::DPU_DATA_FORMAT__OUT_PRECISION, kHalf);
  image.set(reg::DPU_OUT_CVT_SCALE__FP32TOFP16_EN, 1);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__MRDMA_FP16TOFP32_EN, 1);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__PROC_PRECISION, kHalf);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION, kHalf);
}

// Two blocks of halves for each of int8.
void write_to_half(const DpuTask& t, RegisterImage& image) {
  image.set(reg::DPU_DATA_FORMAT__OUT_PRECISION, kHalf);
  image.set(reg::DPU_OUT_CVT_SCALE__FP32TOFP16_EN, 1);
  for (const target::RegisterField& field :
       {reg::DPU_BS_OW_CFG__SIZE_E_0, reg::DPU_BS_OW_CFG__SIZE_E_1, reg::DPU_BS_OW_CFG__SIZE_E_2})
    image.set(field, 1);
  image.set(reg::DPU_SURFACE_ADD__SURF_ADD, 2 * t.out_plane);
}

// Both streams of the reader bring the source, every other plane each.
void write_to_int8(const DpuTask& t, RegisterImage& image) {
  constexpr int64_t kTwoBytes = 2, kBothStreams = 3;
  // The last plane needs no way to the next.
  const bool is_last = t.channels == t.chip->atom_bytes;
  const int64_t notch = is_last ? 0 : 2 * t.source_plane - t.height * t.width;
  image.set(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__EW_LINE_NOTCH_ADDR, t.source_row_gap);
  image.set(reg::DPU_DATA_FORMAT__OUT_PRECISION, 0);
  image.set(reg::DPU_FEATURE_MODE_CFG__COMB_USE, 1);
  image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DISABLE, 0);
  image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE, kTwoBytes);
  image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_MODE, 1);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE, kBothStreams);
  image.set_address(reg::DPU_RDMA_RDMA_EW_BASE_ADDR, Operand::kFeature,
                    t.source_bytes + static_cast<uint64_t>(t.source_plane * t.chip->atom_bytes));
  image.set(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE, 2 * t.source_plane);
  image.set(reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR, notch);
  image.set(reg::DPU_RDMA_RDMA_EW_SURF_NOTCH__EW_SURF_NOTCH, notch);
}

void write_largest(const DpuTask& t, RegisterImage& image) {
  constexpr int64_t kLargest = 7, kHalfBytes = 2;
  image.set(reg::DPU_FEATURE_MODE_CFG__NONALIGN, 1);
  image.set(reg::DPU_FEATURE_MODE_CFG__SURF_LEN,
            ceil_div<int64_t>(t.width * kHalfBytes, t.chip->atom_bytes));
  image.set(reg::DPU_DATA_CUBE_HEIGHT__MINMAX_CTL, kLargest);
  image.set(reg::DPU_OUT_CVT_SHIFT__CVT_ROUND, 1);
  image.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__OV4K_BYPASS, 1);
}

Status check_half_stages(const DpuTask& t) {
  const bool halves_only = t.join != Join::kSum || t.to_int8 || t.half_source || t.beyond ||
                           t.writes_largest || t.lookup_factor != 0;
  if ((halves_only && !t.is_float) || (t.to_half && t.is_float) || (t.to_int8 && !t.half_source))
    return unsupported("no register form for a stage of the other type");
  if (t.writes_largest && (t.height != 1 || t.width > kMostLargest))
    return unsupported("no register form for the largest channel of more than 128 pixels");
  return ok_status();
}

RegisterTask in_order(const RegisterImage& image) {
  RegisterTask task;
  task.units = kUnits;
  for (const uint16_t offset : kOrder) task.commands.push_back(image.get(offset));
  return task;
}

}  // namespace

Result<RegisterTask> write_dpu(const DpuTask& t) {
  const auto within = [](int64_t value, int64_t most) { return value >= 1 && value <= most; };
  if (!within(t.height, kMostExtent) || !within(t.width, kMostExtent) ||
      !within(t.channels, kMostChannels) ||
      t.channels % (t.chip->atom_bytes / (t.is_float ? 2 : 1)) != 0)
    return unsupported("no register form for extents beyond the registers' fields");
  if (t.activation == program::Activation::kClip)
    return unsupported("no register form for a limit after an addend");
  RK_TRY(check_half_stages(t));
  // A list that uses tables follows the one that loads them into the first bank of the DPU's registers.
  constexpr uint32_t kPingPong = 0xe, kRestart = 0x30;
  RegisterImage image;
  const bool looks_up = t.looks_up || t.lookup_factor != 0;
  image.set(reg::DPU_S_POINTER, looks_up ? kRestart : kPingPong);
  image.set(reg::DPU_RDMA_RDMA_S_POINTER, looks_up ? kRestart : kPingPong);
  write_extents(t, image);
  write_source(t, image);
  write_lookup(t, image);
  write_addend(t, image);
  // What the offset of one means to a list with tables is not known; vendor files have it.
  const int32_t offset = t.lookup_factor != 0 ? 1 : t.output.zero_point;
  image.set(reg::DPU_OUT_CVT_OFFSET, static_cast<uint32_t>(offset));
  image.set(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE, t.output.scale.scale);
  image.set(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT, t.output.scale.shift);
  if (t.is_float) write_half(image);
  if (t.join == Join::kQuotient || t.writes_largest) {
    // Halves stay halves.
    image.set(reg::DPU_OUT_CVT_SCALE__FP32TOFP16_EN, 0);
    image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__MRDMA_FP16TOFP32_EN, 0);
  }
  if (t.to_half) write_to_half(t, image);
  if (t.to_int8) write_to_int8(t, image);
  if (t.writes_largest) write_largest(t, image);
  return in_order(image);
}

Result<RegisterTask> write_enlargement(const Enlargement& t) {
  constexpr int64_t kMostTimes = 8;
  const int64_t width = t.width * t.times.w;
  if (t.height < 1 || t.width < 1 || width > kMostExtent || t.height * t.times.h > kMostExtent ||
      t.times.h < 1 || t.times.w < 1 || t.times.h > kMostTimes || t.times.w > kMostTimes)
    return unsupported("no register form for an enlargement beyond the registers' fields");
  const int64_t lanes = t.chip->atom_bytes / (t.is_float ? 2 : 1);
  DpuTask block{.channels = lanes, .height = t.height, .width = width, .is_float = t.is_float};
  block.source_bytes = t.source_bytes;
  block.out_bytes = t.out_bytes;
  RegisterImage image;
  constexpr uint32_t kPingPong = 0xe;
  image.set(reg::DPU_S_POINTER, kPingPong);
  image.set(reg::DPU_RDMA_RDMA_S_POINTER, kPingPong);
  write_extents(block, image);
  write_source(block, image);
  write_lookup(block, image);
  write_addend(block, image);
  // The reader takes atoms as numbers of 16 bits, whatever they are.
  constexpr int64_t kI16 = 1;
  image.set(reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH, t.width - 1);
  image.set(reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL, t.chip->atom_bytes / 2 - 1);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION, kI16);
  image.set(reg::DPU_DATA_FORMAT__IN_PRECISION, kI16);
  image.set(reg::DPU_DATA_FORMAT__PROC_PRECISION, t.is_float ? kHalf : 0);
  image.set(reg::DPU_DATA_FORMAT__OUT_PRECISION, t.is_float ? kHalf : 0);
  image.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__PROC_PRECISION, t.is_float ? kHalf : 0);
  // Copies of a row follow each other; the next row of the source comes after them.
  image.set(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0, (t.times.h - 1) * width);
  image.set(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_1, (t.times.h - 1) * width);
  image.set(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE, width);
  image.set(reg::DPU_SURFACE_ADD__SURF_ADD, t.out_plane);
  const target::RegisterField repeats[] = {
      reg::DPU_BS_OW_CFG__SIZE_E_0, reg::DPU_BS_OW_CFG__SIZE_E_1, reg::DPU_BS_OW_CFG__SIZE_E_2};
  for (const target::RegisterField& field : repeats) image.set(field, 1);
  image.set(reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR, t.source_plane - t.height * t.width);
  image.set(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__KERNEL_WIDTH, t.times.w - 1);
  image.set(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__KERNEL_HEIGHT, t.times.h - 1);
  image.set(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__KERNEL_STRIDE_WIDTH, t.times.w - 1);
  image.set(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__KERNEL_STRIDE_HEIGHT, t.times.h - 1);
  image.set(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__UNPOOLING_EN, 1);
  image.set(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE, 1);
  return in_order(image);
}

Result<RegisterTask> write_table_load(std::span<const int16_t> low, std::span<const int16_t> high) {
  if (low.size() != program::kLookupEntries || high.size() != program::kLookupEntries)
    return unsupported(
        str("no register form for tables of ", low.size(), " and ", high.size(), " entries"));
  DpuTask nothing{.channels = kRk3588.atom_bytes, .height = 1, .width = 1};
  nothing.source_plane = nothing.out_plane = 1;
  RK_ASSIGN(RegisterTask task, write_dpu(nothing));
  task.first_table_entry = low.front();
  task.last_table_entry = high.back();
  constexpr uint32_t kWriteLow = 0x20000, kWriteHigh = 0x30000;
  for (const auto& [access, table] : {std::pair(kWriteLow, low), std::pair(kWriteHigh, high)}) {
    task.commands.push_back({reg::DPU_LUT_ACCESS_CFG, access});
    for (const int16_t entry : table)
      task.commands.push_back({reg::DPU_LUT_ACCESS_DATA, static_cast<uint16_t>(entry)});
  }
  return task;
}

Result<RegisterTask> write_table_load(std::span<const int8_t> results) {
  constexpr size_t kBytes = 256;
  if (results.size() != kBytes)
    return unsupported(str("no register form for a table of ", results.size(), " results"));
  std::vector<int16_t> low, high;
  for (size_t i = 0; i < program::kLookupEntries; ++i) {
    const size_t byte = i / kEntriesPerByte;
    low.push_back(results[byte]);
    high.push_back(results[std::min(kBytes / 2 + byte, kBytes - 1)]);
  }
  return write_table_load(low, high);
}

}  // namespace rk::registers
