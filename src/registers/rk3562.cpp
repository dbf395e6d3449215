// SPDX-License-Identifier: Apache-2.0
#include "registers/rk3562.h"

#include <algorithm>
#include <bit>

#include "base/checked_math.h"
#include "base/half.h"
#include "registers/chip.h"
#include "target/rk3562_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
namespace there = target::rk3562_reg;
using target::RegisterField;

constexpr uint32_t kArray = 0x1, kReads = 0x10, kPools = 0x60;  // bits of units
constexpr uint32_t kHalf = 2;                                   // of precision fields: float16
constexpr uint16_t kReaderFirst = 0x5000, kReaderEnd = 0x6000;  // registers of the DPU's reader

// Registers of lists, in their order.
constexpr uint16_t kConvolutionOrder[] = {
    0x1004, 0x3004, 0x1038, 0x4004, 0x5004, 0x100c, 0x1010, 0x1014, 0x1018, 0x101c, 0x1020,
    0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038, 0x103c, 0x1040, 0x1044, 0x1048, 0x104c,
    0x1050, 0x1054, 0x1058, 0x105c, 0x1060, 0x1064, 0x1068, 0x106c, 0x1070, 0x1074, 0x1078,
    0x107c, 0x1080, 0x1084, 0x1088, 0x108c, 0x1090, 0x1094, 0x1098, 0x1100, 0x1104, 0x1110,
    0x1140, 0x1144, 0x118c, 0x3018, 0x301c, 0x3020, 0x3024};
// The DPU, its reader and two registers that no description has; convolutions have set both
// pointers before.
constexpr uint16_t kDpuOrder[] = {
    0x4004, 0x5004, 0x400c, 0x4010, 0x4014, 0x4018, 0x401c, 0x4020, 0x4024, 0x4028, 0x402c, 0x4030,
    0x4034, 0x4038, 0x403c, 0x4040, 0x4044, 0x4048, 0x404c, 0x4050, 0x4054, 0x4058, 0x405c, 0x4060,
    0x4064, 0x4068, 0x406c, 0x4070, 0x4074, 0x4078, 0x407c, 0x4080, 0x4084, 0x4088, 0x408c, 0x4090,
    0x4094, 0x4098, 0x409c, 0x40a0, 0x40a4, 0x40a8, 0x40ac, 0x40b0, 0x40b4, 0x40b8, 0x40bc, 0x40c0,
    0x40c8, 0x40cc, 0x4100, 0x4104, 0x4108, 0x410c, 0x4110, 0x4114, 0x4118, 0x411c, 0x4120, 0x4124,
    0x4128, 0x412c, 0x500c, 0x5010, 0x5014, 0x5018, 0x501c, 0x5020, 0x5028, 0x502c, 0x5034, 0x5038,
    0x5040, 0x5044, 0x5048, 0x504c, 0x5064, 0x506c, 0x5078, 0x507c, 0x8028, 0x802c};
constexpr size_t kPointers = 2;
constexpr uint32_t kLeast = 0x80000000, kMost = 0x7fffffff;  // limits that limit nothing
constexpr uint16_t kPoolingOrder[] = {
    0x6004, 0x7004, 0x600c, 0x6010, 0x6014, 0x6018, 0x601c, 0x6020, 0x6024, 0x6034,
    0x6038, 0x603c, 0x6040, 0x6044, 0x6048, 0x604c, 0x6050, 0x6054, 0x6058, 0x605c,
    0x6060, 0x6064, 0x6068, 0x606c, 0x6070, 0x607c, 0x6084, 0x60dc, 0x700c, 0x7010,
    0x7014, 0x701c, 0x7024, 0x7028, 0x7030, 0x8028, 0x802c};

class Translation {
 public:
  explicit Translation(const RegisterTask& task) : task_(task) {}

  Result<RegisterTask> convolution() {
    for (const uint16_t pointer : {there::kCnaPointer, there::kCorePointer})
      image_.set(pointer, get(reg::DPU_S_POINTER));
    shared();
    fetch();
    weights();
    image_.set(there::kCoreMode, is_half() ? (is_depthwise() ? 2 : 0) : is_depthwise() ? 10 : 1);
    image_.set(there::kCorePicture, picture() != 0 && !is_half() ? 1 : 0);
    bias();
    RK_TRY(stages());
    RegisterTask out;
    out.units = task_.units;
    append(kConvolutionOrder, out);
    append(std::span(kDpuOrder).subspan(kPointers), out);
    return out;
  }

  Result<RegisterTask> dpu() {
    shared();
    RK_TRY(source());
    RK_TRY(stages());
    RegisterTask out;
    out.units = task_.units;
    append(kDpuOrder, out);
    tables(out);
    return out;
  }

  RegisterTask pooling() {
    for (const Command& command : task_.commands) {
      if (command.operand == Operand::kNone) {
        image_.set(command.offset, command.value);
      } else {
        image_.set_address(command.offset, command.operand, command.value);
      }
    }
    // The least int8 with the bits that mark it as the border of a MaxPool, or the least half, four
    // times.
    constexpr uint32_t kBorder = 0x7ff80, kHalfBorder = 0xfbff, kReaderMode = 0x40;
    const bool halves = get(reg::PPU_DATA_FORMAT__PROC_PRECISION) == kHalf;
    for (uint16_t i = 0; i < 4; ++i)
      image_.set(static_cast<uint16_t>(reg::PPU_PADDING_VALUE_1_CFG + 4 * i),
                 halves ? kHalfBorder : kBorder);
    image_.set(reg::PPU_RDMA_RDMA_DATA_FORMAT, kReaderMode | (halves ? kHalf : 0));
    unnamed();
    RegisterTask out;
    out.units = task_.units;
    append(kPoolingOrder, out);
    return out;
  }

 private:
  uint32_t get(uint16_t offset) const {
    const Command* const command = task_.find(offset);
    return command == nullptr ? 0 : command->value;
  }
  uint32_t get(const RegisterField& field) const { return field.get(get(field.offset)); }
  uint32_t picture() const { return get(reg::CNA_CONV_CON1__ARGB_IN); }
  bool is_depthwise() const { return get(reg::CORE_MISC_CFG__DW_EN) != 0; }
  bool convolves() const { return (task_.units & kArray) != 0; }
  bool is_half() const { return get(reg::DPU_DATA_FORMAT__PROC_PRECISION) == kHalf; }
  bool enlarges() const { return get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__UNPOOLING_EN) != 0; }
  bool has_operand() const {
    return (task_.units & kReads) != 0 && get(reg::DPU_EW_CFG__EW_OP_BYPASS) == 0;
  }
  bool has_bias() const { return get(reg::DPU_BS_CFG__BS_BYPASS) == 0; }
  // Offsets between depthwise weights.
  bool has_pairs() const { return is_depthwise() && !is_alone() && !is_half(); }
  // Bias alone: no multiplier, and no offsets between depthwise weights.
  bool is_alone() const { return get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE) == 1; }

  void unnamed() {
    constexpr uint32_t kValues[] = {0xc, 0xffffffff};
    for (size_t i = 0; i < std::size(kValues); ++i) image_.set(there::kUnnamed[i], kValues[i]);
  }

  void shared() {
    for (const uint16_t pointer : {reg::DPU_S_POINTER, reg::DPU_RDMA_RDMA_S_POINTER})
      image_.set(pointer, get(pointer));
    for (const target::PlacedField& field : target::rk3562_fields())
      if (task_.find(field.rk3588.offset) != nullptr) image_.set(field.rk3562, get(field.rk3588));
    for (const target::PlacedRegister& address : target::rk3562_addresses()) {
      const Command* const command = task_.find(address.rk3588);
      if (command != nullptr && command->operand != Operand::kNone)
        image_.set_address(address.rk3562, command->operand, command->value);
    }
    image_.set(there::kDpuDepthwise, is_depthwise() ? 1 : 0);
    const bool largest = get(reg::DPU_DATA_CUBE_HEIGHT__MINMAX_CTL) != 0;
    const uint32_t channels = get(largest ? reg::DPU_DATA_CUBE_CHANNEL__CHANNEL
                                          : reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL);
    image_.set(there::kChannels, channels);
    image_.set(there::kChannelsAgain, largest ? 0 : channels);
    const bool narrows = is_half() && get(reg::DPU_DATA_FORMAT__OUT_PRECISION) == 0;
    const int64_t together = (is_depthwise() ? 8 : 4) / (is_half() && !narrows ? 2 : 1);
    image_.set(there::kAtomsTogether, enlarges() ? 0 : together - 1);
    unnamed();
    constexpr uint32_t kWriting = 0x4440002, kOfArray = 0x100;
    image_.set(there::kWriting, convolves() ? kWriting | kOfArray : kWriting);
    constexpr uint32_t kBurst = 0x7800, kOfMemory = 1, kBehindArray = 0x10, kDepthwise = 2,
                       kReads = 8, kInt32 = 0x20000;
    const bool reads = !convolves() || has_operand();
    image_.set(there::kReader, kBurst | (convolves() ? kBehindArray : kOfMemory) |
                                   (is_depthwise() ? kDepthwise : 0) | (reads ? kReads : 0) |
                                   (enlarges() ? kInt32 : 0));
    image_.set(there::kReaderInside, is_half() ? kHalf : 0);
    if (!enlarges()) image_.set(there::kReaderNumbers, is_half() ? kHalf : 0);
    image_.set(there::kReadsMemory, reads || is_half() ? 1 : 0);
    if (narrows) image_.set(there::kStreams, get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE));
    if (enlarges()) {
      // An atom is four numbers, which repeat in two ways.
      image_.set(there::kReaderChannels, 3);
      image_.set(there::kRepeats2, 0);
    }
  }

  void fetch() {
    const uint32_t width = get(reg::CNA_DATA_SIZE0__DATAIN_WIDTH);
    const uint32_t rows = get(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT);
    const uint32_t banks = get(reg::CNA_CBUF_CON0__DATA_BANK);
    const uint32_t channels = get(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL_REAL) + 1;
    const auto bank_entries = static_cast<uint32_t>(kRk3562.bank_entries);
    image_.set(there::kConvMode, is_depthwise() ? (has_pairs() ? 5 : 1) : 0);
    image_.set(there::kHalves, is_half() ? 1 : 0);
    const bool is_transposed = get(reg::CNA_CONV_CON1__DECONV) != 0;
    image_.set(there::kNotTransposed, is_transposed ? 0 : 1);
    constexpr int64_t kMode = 8, kBankMode = 0x18;
    constexpr uint32_t kBursts = 0xf400f, kOfOneChannel = 0x80000000;
    image_.set(there::kFetchMode, kMode);
    image_.set(there::kKeepsWeights, get(reg::CNA_CBUF_CON0__WEIGHT_REUSE));
    image_.set(there::kGrains, get(reg::CNA_CONV_CON2__FEATURE_GRAINS));
    image_.set(there::kDataBanks, banks);
    image_.set(there::kDataBanksAgain, banks);
    image_.set(there::kBankMode, is_transposed ? 0 : kBankMode);
    image_.set(there::kKeepsRows, get(reg::CNA_CBUF_CON0__DATA_REUSE));
    image_.set(there::kInChannels, channels);
    image_.set(there::kFetchedChannels, channels);
    const uint32_t entries = get(reg::CNA_CBUF_CON1);
    image_.set(there::kRowEntries, entries);
    image_.set(there::kFirstEntry, task_.first_entry);
    image_.set(there::kRingEntries, banks * bank_entries);
    image_.set(there::kWriteEntry, task_.write_entry);
    image_.set(there::kRowWidth, width);
    image_.set(there::kRowLength, entries);
    const bool converts = get(reg::CNA_CVT_CON0__CVT_BYPASS) == 0;
    constexpr uint32_t kLanes = 0x20, kToHalf = 9;
    image_.set(there::kConversion, get(reg::CNA_CVT_CON0) | (converts && is_half() ? kToHalf : 0));
    conversion();
    image_.set(there::kConversionLanes, kLanes);
    image_.set(there::kFetchedWidth, width);
    image_.set(there::kFetchedRows, get(reg::CNA_FC_DATA_SIZE0__DMA_HEIGHT));
    const auto pad = static_cast<int8_t>(get(reg::CNA_PAD_CON1));  // its lowest byte
    image_.set(there::kBorder, static_cast<uint32_t>(int32_t{pad}));
    image_.set(there::kBursts, kBursts);
    // Lines in quarters of atoms, planes from start to start.
    const uint32_t line = get(reg::CNA_DMA_CON1__LINE_STRIDE);
    const bool single = get(reg::CNA_CONV_CON1__GROUP_LINE_OFF) != 0;
    const uint32_t plane = get(reg::CNA_DMA_CON2__SURF_STRIDE) + (single ? width : line);
    constexpr uint32_t kPlaneBits = 0xfffffff;
    image_.set(there::kSingleLines, single ? 1 : 0);
    image_.set(there::kLine, line);
    image_.set(there::kPlane, plane & kPlaneBits);
    image_.set(there::kPlaneAgain, plane & kPlaneBits);
    image_.set(there::kRowEnd, (width - 1) << 16 | (width - 1));
    border(width, rows);
    if (picture() == 0) return;
    // A picture is one row of atoms.
    constexpr uint32_t kPictureOf = 7, kAtom = 16;
    const uint32_t element = is_half() ? 2 : 1;
    const auto padded = align_up<uint32_t>(width, kAtom / element);
    const uint32_t atoms = rows * padded * (picture() - kPictureOf) * element / kAtom;
    image_.set(there::kPicture, 1);
    image_.set(there::kPaddedRows, width % kAtom != 0 ? 1 : 0);
    image_.set(there::kPictureBorder, static_cast<uint32_t>(int32_t{pad}));
    image_.set(there::kRowWidth, padded);
    image_.set(there::kRowLength, padded);
    image_.set(there::kFetchedWidth, atoms);
    image_.set(there::kFetchedRows, 1);
    if (picture() - kPictureOf == 1) image_.set(there::kBursts, kBursts | kOfOneChannel);
    for (const uint16_t stride : {there::kLine, there::kPlane, there::kPlaneAgain})
      image_.set(stride, atoms);
    const uint32_t last = rows * entries - 1;
    image_.set(there::kRowEnd, last << 16 | last);
  }

  // Scales of channels in pairs, offsets each in a register.
  void conversion() {
    constexpr uint16_t kThere[] = {there::kConversionScale01, there::kConversionScale23};
    constexpr uint16_t kHere[] = {reg::CNA_CVT_CON1, reg::CNA_CVT_CON2, reg::CNA_CVT_CON3,
                                  reg::CNA_CVT_CON4};
    for (size_t i = 0; i < std::size(kThere); ++i)
      image_.set(kThere[i], get(kHere[2 * i]) >> 16 | (get(kHere[2 * i + 1]) & 0xffff0000));
    for (size_t i = 0; i < std::size(kHere); ++i) {
      const auto offset = static_cast<int16_t>(get(kHere[i]));
      image_.set(static_cast<uint16_t>(there::kConversionOffset + 4 * i),
                 static_cast<uint32_t>(int32_t{offset}));
    }
  }

  // Rows and columns of the border below and to the right that windows reach.
  void border(uint32_t width, uint32_t rows) {
    const auto reach = [&](const RegisterField& outputs, const RegisterField& stride,
                           const RegisterField& kernel, const RegisterField& dilation,
                           const RegisterField& before, const RegisterField& cells,
                           uint32_t extent) -> int64_t {
      const int64_t window = int64_t{get(kernel) - 1} * (get(dilation) + 1) + 1;
      const int64_t step = get(stride);
      const int64_t end = int64_t{get(outputs)} * step + window - get(before);
      const int64_t spread = int64_t{extent - 1} * (get(cells) + 1) + 1;
      return std::max<int64_t>(end - spread, 0);
    };
    image_.set(there::kPadBottom,
               reach(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT, reg::CNA_CONV_CON3__CONV_Y_STRIDE,
                     reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT, reg::CNA_CONV_CON3__ATROUS_Y_DILATION,
                     reg::CNA_PAD_CON0__PAD_TOP, reg::CNA_CONV_CON3__DECONV_Y_STRIDE, rows));
    image_.set(there::kPadRight,
               reach(reg::DPU_DATA_CUBE_WIDTH__WIDTH, reg::CNA_CONV_CON3__CONV_X_STRIDE,
                     reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH, reg::CNA_CONV_CON3__ATROUS_X_DILATION,
                     reg::CNA_PAD_CON0__PAD_LEFT, reg::CNA_CONV_CON3__DECONV_X_STRIDE, width));
  }

  // Weights of a depthwise layer and their offsets count as two kernels.
  void weights() {
    const bool pairs = has_pairs();
    const uint32_t bytes = get(reg::CNA_WEIGHT_SIZE1__WEIGHT_BYTES_PER_KERNEL);
    image_.set(there::kKernelMode, 1);
    image_.set(there::kKernelBytes, pairs ? bytes / 2 : bytes);
    image_.set(there::kKernels, pairs ? 2 : get(reg::CNA_WEIGHT_SIZE2__WEIGHT_KERNELS));
  }

  // Constants of each channel from memory.
  void bias() {
    constexpr uint32_t kDense = 0x120080, kPlain = 0x100092, kOff = 0x53;
    if (is_half()) {
      // No offsets of weights and no multipliers.
      image_.set(there::kBias, has_bias() ? kPlain : kOff);
      image_.set(there::kFactorOff, 1);
      return;
    }
    image_.set(there::kBias, is_depthwise() ? kPlain : kDense);
    image_.set(there::kOffsetOn, is_depthwise() ? 0 : 1);
    image_.set(there::kFactorSource, is_alone() ? 0 : 1);
    image_.set(there::kFactorOff, is_alone() ? 1 : 0);
    if (is_alone()) {
      if (!is_depthwise()) image_.set(there::kOffsetValue, get(reg::DPU_BS_OW_OP__OW_OP));
      return;
    }
    image_.set(there::kOffsetSource, is_depthwise() ? 0 : 1);
    image_.set(there::kBiasShift, get(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE));
    image_.set(there::kOffsetShift, get(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG));
    constexpr int64_t kWithoutOffsets = 5;
    if (is_depthwise()) image_.set(there::kConstants, kWithoutOffsets);
  }

  // A number added to a feature from memory, and a factor.
  Status source() {
    constexpr uint32_t kOff = 0x53, kAdds = 0x100012, kMultiplies = 0x52;
    image_.set(there::kFactorOff, get(reg::DPU_BS_CFG__BS_MUL_BYPASS));
    if (get(reg::DPU_BS_CFG__BS_BYPASS) != 0) {
      image_.set(there::kBias, kOff);
      return ok_status();
    }
    const bool adds = get(reg::DPU_BS_CFG__BS_ALU_BYPASS) == 0;
    image_.set(there::kBias, adds ? kAdds : kMultiplies);
    image_.set(there::kBiasAddend, get(reg::DPU_BS_ALU_CFG));
    if (get(reg::DPU_BS_CFG__BS_MUL_BYPASS) != 0) return ok_status();
    image_.set(there::kBiasFactor, get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND));
    image_.set(there::kBiasShift, get(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE));
    image_.set(there::kOffsetShift, get(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG));
    return ok_status();
  }

  // Activation, table, operand.
  Status stages() {
    for (const uint16_t low : there::kLows) image_.set(low, kLeast);
    for (const uint16_t high : there::kHighs) image_.set(high, kMost);
    RK_TRY(norm());
    constexpr uint32_t kNothing = 0x10041c1, kLooksUp = 0x1004140, kTableUse = 0x160;
    const uint32_t kAdds = is_half() ? 0x2c0c0 : 0x8002c0c0;  // int8 is converted
    const bool looks_up = get(reg::DPU_EW_CFG__EW_LUT_BYPASS) == 0;
    image_.set(there::kElements, looks_up ? kLooksUp : has_operand() ? kAdds : kNothing);
    if (looks_up) image_.set(there::kTable, kTableUse);
    constexpr uint32_t kCopyWithTable = 0x10;
    if (looks_up && !convolves()) image_.set(there::kCopyMode, kCopyWithTable);
    if (looks_up && is_half()) {
      // A factor of one that the output stage multiplies by.
      constexpr int64_t kOne = 16384, kOneShift = 14;
      image_.set(there::kOutputScale, kOne);
      image_.set(there::kOutputShift, kOneShift);
    }
    if (!has_operand()) return ok_status();
    constexpr uint32_t kLargest = 0, kAddition = 2, kQuotient = 3, kDifference = 4;
    const uint32_t algorithm = get(reg::DPU_EW_CFG__EW_ALU_ALGO);
    const bool known =
        algorithm == kAddition || (is_half() && (algorithm == kLargest || algorithm == kQuotient ||
                                                 algorithm == kDifference));
    if (!known || get(reg::DPU_EW_CFG__EW_OP_TYPE) != 0)
      return unsupported("no register form for such a join of features on RK3562");
    if (is_half()) image_.set(there::kElements, 0xc0c0 | algorithm << 16);
    if (algorithm == kQuotient) divide();
    // Of one pixel these are a number for each channel.
    const bool is_pixel =
        get(reg::DPU_DATA_CUBE_WIDTH__WIDTH) == 0 && get(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT) == 0;
    if (is_pixel && (algorithm == kQuotient || algorithm == kDifference))
      image_.set(there::kOperandMode, 0);
    if (get(reg::DPU_EW_CFG__EW_RELU_BYPASS) != 0) return ok_status();
    image_.set(there::kElementsLow, 0);
    image_.set(there::kElementsLowAgain, 0);
    return ok_status();
  }

  // Halves under the name of 16-bit integers, which stay as they are on their way in and out.
  void divide() {
    constexpr int64_t kI16 = 1;
    constexpr RegisterField kWidens{"FP16TOFP32_EN", there::kReader, 3, 3};
    image_.set(there::kElements, there::kDivides);
    image_.set(there::kDpuFormat, there::kNamedFormat);
    image_.set(there::kReaderInside, kI16);
    image_.set(there::kReaderNumbers, kI16);
    image_.set(kWidens, 0);
    image_.set(there::kReadsMemory, 0);
  }

  Status norm() {
    constexpr uint32_t kOff = 0x13, kLimits = 0x12, kSlope = 0x22, kIndex = 0x20000;
    if (get(reg::DPU_BN_CFG__BN_BYPASS) != 0) {
      image_.set(there::kNorm, kOff);
      return ok_status();
    }
    const bool multiplies = get(reg::DPU_BN_CFG__BN_MUL_BYPASS) == 0;
    if (!multiplies && get(reg::DPU_BN_CFG__BN_ALU_BYPASS) == 0) {
      constexpr uint32_t kAdds = 0x20010;
      image_.set(there::kNorm, kAdds);
      image_.set(there::kNormAddend, get(reg::DPU_BN_ALU_CFG));
      return ok_status();
    }
    if (!multiplies) {
      const bool clips = get(reg::DPU_BN_CFG__BN_RELUX_EN) != 0;
      const uint32_t high = clips ? get(reg::DPU_BN_RELUX_CMP_VALUE) : kMost;
      image_.set(there::kNorm, kLimits);
      for (const uint16_t low : {there::kNormLow, there::kNormLowAgain}) image_.set(low, 0);
      for (const uint16_t limit : {there::kNormHigh, there::kNormHighAgain})
        image_.set(limit, high);
      return ok_status();
    }
    const uint32_t factor = get(reg::DPU_BN_MUL_CFG);
    image_.set(there::kNormFactor, factor);
    if (get(reg::DPU_BN_CFG__BN_ALU_BYPASS) != 0) {
      // Shifts of sums on both sides of zero are in the bias stage.
      if (get(reg::DPU_BN_CFG__BN_MUL_PRELU) == 0 ||
          reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE.get(factor) != 0 ||
          get(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG) != 0)
        return unsupported("no register form for a slope with a shift on RK3562");
      image_.set(there::kNorm, kSlope);
      return ok_status();
    }
    image_.set(there::kNorm, kIndex);
    image_.set(there::kNormAddend, get(reg::DPU_BN_ALU_CFG));
    if (is_half()) {
      // Added before the product there.
      const float by = half_to_float(static_cast<uint16_t>(factor >> 16));
      const auto addend = std::bit_cast<float>(get(reg::DPU_BN_ALU_CFG));
      image_.set(there::kNormAddend, std::bit_cast<uint32_t>(addend / by));
    }
    return ok_status();
  }

  // Entries come after the list's own registers, each table after the word that opens it.
  void tables(RegisterTask& out) const {
    constexpr size_t kOwnRegisters = 69;
    if (task_.commands.size() <= kOwnRegisters) return;
    for (Command& command : out.commands)
      if (command.offset == there::kTable) command.value = 1;
    out.commands.insert(out.commands.end(), task_.commands.begin() + kOwnRegisters,
                        task_.commands.end());
  }

  void append(std::span<const uint16_t> order, RegisterTask& out) const {
    for (const uint16_t offset : order) {
      const bool is_readers = offset >= kReaderFirst && offset < kReaderEnd;
      if (!is_readers || (task_.units & kReads) != 0) out.commands.push_back(image_.get(offset));
    }
  }

  const RegisterTask& task_;
  RegisterImage image_;
};

// Of what the registers of RK3588 can say: int8 and float16, and copies from either to the other.
Status check_known(const RegisterTask& task) {
  const auto get = [&](const RegisterField& field) {
    const Command* const command = task.find(field.offset);
    return command == nullptr ? 0 : field.get(command->value);
  };
  const uint32_t inside = get(reg::DPU_DATA_FORMAT__PROC_PRECISION);
  const uint32_t result = get(reg::DPU_DATA_FORMAT__OUT_PRECISION);
  const bool known = (inside == 0 || inside == kHalf) && (result == 0 || result == kHalf);
  if (!known || (inside != result && (task.units & kArray) != 0))
    return unsupported("no register form for other numbers than int8 and float16 on RK3562");
  const bool of_halves = get(reg::DPU_OFFSET_PEND__OFFSET_PEND) != 0 ||
                         get(reg::DPU_DATA_CUBE_HEIGHT__MINMAX_CTL) != 0 ||
                         get(reg::DPU_FEATURE_MODE_CFG__NONALIGN) != 0;
  if (of_halves && inside == 0)
    return unsupported("no register form for the largest channel of int8 on RK3562");
  return ok_status();
}

}  // namespace

Result<RegisterTask> for_rk3562(const RegisterTask& task) {
  Translation translation(task);
  if (task.units == kPools) return translation.pooling();
  RK_TRY(check_known(task));
  return (task.units & kArray) != 0 ? translation.convolution() : translation.dpu();
}

std::span<const PatchedWord> rk3562_geometry_words() {
  static constexpr PatchedWord kWords[] = {{0, 0x102c}, {1, 0x100c}, {2, 0x1018}, {3, 0x1090},
                                           {4, 0x1094}, {5, 0x1088}, {6, 0x103c}};
  return kWords;
}

std::span<const PatchedWord> rk3562_conversion_words() {
  static constexpr PatchedWord kWords[] = {
      {0, 0x1048}, {1, 0x104c}, {2, 0x1050}, {3, 0x1054},  {4, 0x1058},  {5, 0x105c}, {6, 0x1060},
      {7, 0x1064}, {8, 0x1068}, {9, 0x3024}, {10, 0x1024}, {11, 0x1100}, {12, 0x1020}};
  return kWords;
}

}  // namespace rk::registers
