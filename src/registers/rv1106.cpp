// SPDX-License-Identifier: Apache-2.0
#include "registers/rv1106.h"

#include <algorithm>

#include "base/checked_math.h"
#include "registers/chip.h"
#include "target/rk3562_registers.h"
#include "target/rv1106_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
namespace here = target::rv1106_reg;
namespace there = target::rk3562_reg;
using target::RegisterField;

constexpr uint32_t kArray = 0x1, kReads = 0x10, kPools = 0x60;  // bits of units
constexpr uint16_t kReaderFirst = 0x5000, kReaderEnd = 0x6000;  // registers of the DPU's reader

// Registers of lists, in their order.
constexpr uint16_t kConvolutionOrder[] = {
    0x1004, 0x3004, 0x1040, 0x4004, 0x5004, 0x100c, 0x1010, 0x1014, 0x101c, 0x1020,
    0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038, 0x103c, 0x1040, 0x1044, 0x1048,
    0x104c, 0x1050, 0x1054, 0x1058, 0x105c, 0x1060, 0x1064, 0x1068, 0x106c, 0x1070,
    0x1074, 0x1078, 0x107c, 0x1080, 0x1084, 0x1088, 0x108c, 0x1094, 0x1100, 0x1104,
    0x1110, 0x1140, 0x1144, 0x1184, 0x1188, 0x118c, 0x3010, 0x3014, 0x3018, 0x301c};
// The DPU, its reader and two registers that no description has; convolutions have set both
// pointers before.
constexpr uint16_t kDpuOrder[] = {
    0x4004, 0x5004, 0x400c, 0x4010, 0x4014, 0x4018, 0x401c, 0x4020, 0x4024, 0x4028, 0x402c, 0x4030,
    0x4034, 0x4038, 0x403c, 0x4040, 0x4044, 0x4048, 0x404c, 0x4050, 0x4054, 0x4058, 0x405c, 0x4060,
    0x4064, 0x4068, 0x406c, 0x4070, 0x4074, 0x4078, 0x407c, 0x4080, 0x4084, 0x4088, 0x4090, 0x4094,
    0x4098, 0x409c, 0x40a0, 0x40c0, 0x40c4, 0x40d8, 0x40dc, 0x40e0, 0x40e4, 0x40e8, 0x40ec, 0x4100,
    0x4104, 0x4108, 0x410c, 0x4110, 0x4114, 0x4118, 0x411c, 0x4120, 0x4124, 0x4128, 0x412c, 0x500c,
    0x5010, 0x5014, 0x5018, 0x501c, 0x5020, 0x5028, 0x502c, 0x5034, 0x5038, 0x5040, 0x5044, 0x5048,
    0x504c, 0x5064, 0x5068, 0x506c, 0x8028, 0x802c};
constexpr size_t kPointers = 2;

class Translation {
 public:
  // `general` has the registers of RK3588, `task` those of RK3562.
  Translation(const RegisterTask& general, const RegisterTask& task)
      : general_(general), task_(task) {
    for (const uint16_t pointer : {reg::CNA_S_POINTER, reg::CORE_S_POINTER, reg::DPU_S_POINTER,
                                   reg::DPU_RDMA_RDMA_S_POINTER})
      image_.set(pointer, get(pointer));
    for (const target::FieldOfRv1106& field : target::rv1106_fields())
      if (task_.find(field.rk3562.offset) != nullptr) image_.set(field.rv1106, get(field.rk3562));
    for (const target::AddressOfRv1106& address : target::rv1106_addresses()) {
      const Command* const command = task_.find(address.rk3562);
      if (command != nullptr && command->operand != Operand::kNone)
        image_.set_address(address.rv1106, command->operand, command->value);
    }
    for (const uint16_t unnamed : there::kUnnamed) image_.set(unnamed, get(unnamed));
  }

  RegisterTask convolution() {
    fetch();
    shared();
    RegisterTask out;
    out.units = task_.units;
    append(kConvolutionOrder, out);
    append(std::span(kDpuOrder).subspan(kPointers), out);
    return out;
  }

  RegisterTask dpu() {
    shared();
    RegisterTask out;
    out.units = task_.units;
    append(kDpuOrder, out);
    tables(out);
    return out;
  }

 private:
  uint32_t get(uint16_t offset) const {
    const Command* const command = task_.find(offset);
    return command == nullptr ? 0 : command->value;
  }
  uint32_t get(const RegisterField& field) const { return field.get(get(field.offset)); }
  uint32_t general(const RegisterField& field) const {
    const Command* const command = general_.find(field.offset);
    return command == nullptr ? 0 : field.get(command->value);
  }
  static constexpr RegisterField kOperandOffset{"", reg::DPU_EW_CVT_OFFSET_VALUE, 0, 31};

  bool is_picture() const { return get(there::kPicture) != 0; }
  bool is_depthwise() const { return get(there::kDpuDepthwise) != 0; }

  void fetch() {
    constexpr uint32_t kPaired = 5, kPairedHere = 7, kDepthwiseHere = 3;
    const uint32_t mode = get(there::kConvMode), picture = general(reg::CNA_CONV_CON1__ARGB_IN);
    image_.set(here::kMode, mode == kPaired ? kPairedHere : is_depthwise() ? kDepthwiseHere : 0);
    image_.set(here::kPictureOf, picture);
    image_.set(here::kSingleLines, get(there::kSingleLines));
    image_.set(here::kGrains, general(reg::CNA_CONV_CON2__FEATURE_GRAINS));
    const uint32_t channels = get(there::kInChannels);
    constexpr uint32_t kLanes = 16;
    const auto padded = align_up(channels, kLanes);
    image_.set(here::kPaddedChannels, padded);
    image_.set(here::kChannelsLess, channels - 1);
    image_.set(here::kFetchedChannels, padded);
    const uint32_t kernel_bytes =
        general(reg::CNA_WEIGHT_SIZE1__WEIGHT_BYTES_PER_KERNEL) / (mode == kPaired ? 2 : 1);
    image_.set(here::kKernelBytes, kernel_bytes);
    image_.set(here::kKernelPairs, kernel_bytes / 2);
    const uint32_t width = general(reg::CNA_DATA_SIZE0__DATAIN_WIDTH);
    const uint32_t rows = general(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT);
    const uint32_t entries = get(there::kRowEntries);
    const uint32_t banks = general(reg::CNA_CBUF_CON0__DATA_BANK);
    image_.set(here::kRowEntries, entries);
    image_.set(here::kRowWidth, width);
    image_.set(here::kRowLength, entries);
    image_.set(here::kRingEntries, banks * static_cast<uint32_t>(kRv1106.bank_entries));
    constexpr uint32_t kAsStored = 9, kBursts = 0x400f400f;
    image_.set(here::kConversion, kAsStored);
    image_.set(here::kConversionScale01, get(there::kConversionScale01));
    image_.set(here::kConversionScale23, get(there::kConversionScale23));
    image_.set(here::kBursts, kBursts);
    image_.set(here::kLine, get(there::kLine));
    image_.set(here::kPlane, get(there::kPlane));
    image_.set(here::kFetchedWidth, width);
    image_.set(here::kFetchedRows, rows);
    image_.set(here::kBorder, get(there::kBorder) & 0xffff);
    image_.set(here::kRowEnd, (width - 1) << 16 | (width - 1));
    if (is_picture()) fetch_picture(width, rows, entries, channels);
  }

  // Rows of a picture follow each other; its pixels have four lanes in the buffer.
  void fetch_picture(uint32_t width, uint32_t rows, uint32_t entries, uint32_t channels) {
    constexpr uint32_t kAtom = 16, kOneChannelBursts = 0xc00f300f, kPictureMode = 0xff;
    const uint32_t padded = align_up(width, kAtom);
    // One channel comes in halves of atoms.
    const uint32_t unit = channels == 1 ? kAtom / 2 : kAtom;
    const uint32_t atoms = rows * padded * channels / unit;
    if (channels == 1) image_.set(here::kBursts, kOneChannelBursts);
    image_.set(here::kRowEntries, padded);
    image_.set(here::kRowWidth, padded);
    for (const uint16_t stride : {here::kLine, here::kPlane}) image_.set(stride, atoms);
    image_.set(here::kFetchedWidth, atoms);
    image_.set(here::kFetchedRows, 1);
    image_.set(here::kPictureMode, kPictureMode);
    const uint32_t last = rows * entries - 1;
    image_.set(here::kRowEnd, last << 16 | last);
    const uint32_t conversion = get(there::kConversion);
    if ((conversion & 1) != 0) return;
    image_.set(here::kConversion, conversion);
    for (size_t c = 0; c < channels; ++c) {
      const auto offset = static_cast<uint16_t>(there::kConversionOffset + 4 * c);
      const uint32_t added = get(offset);
      image_.set(here::kConversionOffsets[c], added << here::kConversionShifts[c].get(conversion));
      image_.set(here::kConversionOdd[c], added & 1);
    }
  }

  void shared() {
    constexpr uint32_t kDense = 0x80, kDenseHere = 0x180, kOperationBits = 0xff;
    const uint32_t bias = get(there::kBias), operation = bias & kOperationBits;
    constexpr int kAboveShift = 14;
    constexpr RegisterField kAbove{"BIAS", here::kBias, 15, 31};
    image_.set(here::kBiasOperation, operation == kDense ? kDenseHere : operation);
    image_.set(kAbove, bias >> (kAboveShift + 1));
    constexpr uint32_t kDepthwise = 3, kTogether = 1, kOneByOne = 2, kAhead = 9, kReadsBit = 8;
    if (is_depthwise()) image_.set(here::kArrayMode, kDepthwise);
    constexpr uint32_t kLooksUp = 0x1004140, kNothing = 0x10041c1, kTableUse = 0x68;
    const uint32_t elements = get(there::kElements);
    if (elements == kLooksUp) image_.set(here::kTable, kTableUse);
    const uint32_t together = get(there::kAtomsTogether);
    image_.set(here::kGroups, together != 0 ? kTogether : kOneByOne);
    if (general(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__UNPOOLING_EN) != 0)
      image_.set(here::kRepeats2, general(reg::DPU_BS_OW_CFG__SIZE_E_2));
    image_.set(here::kOutputNotchAgain, get(there::kOutputNotch));
    image_.set(kOperandOffset, general(kOperandOffset));
    const auto offset = static_cast<int16_t>(get(there::kOffsetValue));
    image_.set(here::kOffsetValue, offset);
    const uint32_t padded = general(reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA);
    image_.set(here::kPaddedOutput, padded);
    const auto lanes = static_cast<uint32_t>(kRv1106.atom_bytes);
    // Copies of whole planes do not count them, nor do transposed convolutions.
    const bool convolves = (task_.units & kArray) != 0;
    const bool one_by_one =
        convolves ? general(reg::CNA_CONV_CON1__DECONV) != 0 : elements == kNothing;
    image_.set(here::kPlanesOut, one_by_one ? 0 : (padded + 1) / lanes - 1);
    image_.set(here::kAtomsTogetherAgain, together);
    constexpr RegisterField kMode{"CONV_MODE", 0x5044, 1, 2};
    if ((task_.units & kReads) == 0) return;
    if (is_depthwise()) image_.set(kMode, kDepthwise);
    if ((get(there::kReader) & kReadsBit) != 0) image_.set(here::kReadsAhead, kAhead);
    constexpr uint32_t kWeights = 0x1010101;
    image_.set(reg::DPU_RDMA_RDMA_WEIGHT, kWeights);
  }

  // Entries of tables come after the list's own registers.
  void tables(RegisterTask& out) const {
    constexpr size_t kOwnRegisters = 82;  // of RK3562
    if (task_.commands.size() <= kOwnRegisters) return;
    out.commands.insert(out.commands.end(), task_.commands.begin() + kOwnRegisters,
                        task_.commands.end());
  }

  void append(std::span<const uint16_t> order, RegisterTask& out) const {
    for (const uint16_t offset : order) {
      const bool is_readers = offset >= kReaderFirst && offset < kReaderEnd;
      if (!is_readers || (task_.units & kReads) != 0) out.commands.push_back(image_.get(offset));
    }
  }

  const RegisterTask& general_;
  const RegisterTask& task_;
  RegisterImage image_;
};

// int8 alone. Lists of RK3562 for Softmax and conversions compute float16.
Status check_known(const RegisterTask& task) {
  const auto get = [&](const RegisterField& field) {
    const Command* const command = task.find(field.offset);
    return command == nullptr ? 0 : field.get(command->value);
  };
  if (get(reg::DPU_DATA_FORMAT__PROC_PRECISION) != 0 ||
      get(reg::DPU_DATA_FORMAT__OUT_PRECISION) != 0 ||
      get(reg::CNA_CONV_CON1__PROC_PRECISION) != 0 ||
      get(reg::PPU_DATA_FORMAT__PROC_PRECISION) != 0)
    return unsupported("no register form for other numbers than int8 on RV1106");
  return ok_status();
}

}  // namespace

Result<RegisterTask> for_rv1106(const RegisterTask& task) {
  RK_TRY(check_known(task));
  RK_ASSIGN(const RegisterTask list, for_rk3562(task));
  if (task.units == kPools) return list;
  Translation translation(task, list);
  return (task.units & kArray) != 0 ? translation.convolution() : translation.dpu();
}

std::span<const PatchedWord> rv1106_geometry_words() {
  static constexpr PatchedWord kWords[] = {{0, 0x1020}, {1, 0x100c}, {3, 0x107c},
                                           {4, 0x1080}, {5, 0x1070}, {6, 0x1044}};
  return kWords;
}

std::span<const PatchedWord> rv1106_conversion_words() {
  static constexpr PatchedWord kWords[] = {
      {0, 0x104c}, {1, 0x1050}, {2, 0x1054}, {3, 0x1058},  {4, 0x105c},  {5, 0x101c}, {6, 0x106c},
      {7, 0x108c}, {8, 0x1094}, {9, 0x301c}, {10, 0x1038}, {11, 0x1100}, {12, 0x1034}};
  return kWords;
}

}  // namespace rk::registers
