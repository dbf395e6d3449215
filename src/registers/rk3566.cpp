// SPDX-License-Identifier: Apache-2.0
#include "registers/rk3566.h"

#include <algorithm>
#include <span>
#include <vector>

#include "registers/chip.h"
#include "target/rk3566_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using target::RegisterField;

constexpr uint32_t kCsc = 0x2, kPools = 0x60;  // bits of units
constexpr uint32_t kHalf = 2;                  // of precision fields: float16
constexpr uint16_t kReader = 0x5000;           // registers of the DPU's reader lie from here on,
constexpr uint16_t kPooling = 0x6000;          // and those of the pooling unit from here

// Registers of lists, in their order.
constexpr uint16_t kConvolutionOrder[] = {
    0x1004, 0x2004, 0x3004, 0x1040, 0x4004, 0x5004, 0x100c, 0x1010, 0x1014, 0x1018, 0x1020, 0x1024,
    0x1028, 0x102c, 0x1030, 0x1034, 0x1038, 0x1040, 0x1044, 0x104c, 0x1050, 0x1054, 0x1058, 0x105c,
    0x1060, 0x1064, 0x1068, 0x1070, 0x1074, 0x1078, 0x107c, 0x1080, 0x1084, 0x1088, 0x1100, 0x1104,
    0x1110, 0x1114, 0x1118, 0x111c, 0x1120, 0x1124, 0x1128, 0x112c, 0x1130, 0x1134, 0x1138, 0x113c,
    0x1140, 0x1144, 0x1148, 0x114c, 0x1210, 0x1214, 0x1218, 0x121c, 0x1220, 0x1224, 0x1228, 0x122c,
    0x1230, 0x200c, 0x300c, 0x3010, 0x3014, 0x302c, 0x400c, 0x4010, 0x4014, 0x4020, 0x4024, 0x4030,
    0x4034, 0x4038, 0x403c, 0x4040, 0x4044, 0x4048, 0x404c, 0x4050, 0x4054, 0x4060, 0x4064, 0x4068,
    0x406c, 0x4070, 0x4074, 0x4078, 0x407c, 0x4080, 0x4084, 0x4088, 0x4090, 0x4094, 0x4098, 0x409c,
    0x40a0, 0x40a4, 0x40a8, 0x40ac, 0x40c0, 0x40c4, 0x4100, 0x4104, 0x4108, 0x410c, 0x4110, 0x4114,
    0x4118, 0x411c, 0x4120, 0x4124, 0x4128, 0x412c, 0x500c, 0x5010, 0x5014, 0x5018, 0x501c, 0x5020,
    0x5024, 0x5028, 0x502c, 0x5030, 0x5034, 0x5038, 0x503c, 0x5040, 0x5044, 0x5048, 0x504c, 0x5064,
    0x5068,
};
constexpr uint16_t kDpuOrder[] = {
    0x4004, 0x5004, 0x400c, 0x4010, 0x4014, 0x4020, 0x4024, 0x4030, 0x4034, 0x4038, 0x403c, 0x4040,
    0x4044, 0x4048, 0x404c, 0x4050, 0x4054, 0x4060, 0x4064, 0x4068, 0x406c, 0x4070, 0x4074, 0x4078,
    0x407c, 0x4080, 0x4084, 0x4088, 0x4090, 0x4094, 0x4098, 0x409c, 0x40a0, 0x40a4, 0x40a8, 0x40ac,
    0x40c0, 0x40c4, 0x4100, 0x4104, 0x4108, 0x410c, 0x4110, 0x4114, 0x4118, 0x411c, 0x4120, 0x4124,
    0x4128, 0x412c, 0x500c, 0x5010, 0x5014, 0x5018, 0x501c, 0x5020, 0x5024, 0x5028, 0x502c, 0x5030,
    0x5034, 0x5038, 0x503c, 0x5040, 0x5044, 0x5048, 0x504c, 0x5064, 0x5068,
};
constexpr uint16_t kPoolingOrder[] = {
    0x6004, 0x7004, 0x600c, 0x6010, 0x6014, 0x6018, 0x601c, 0x6020, 0x6024, 0x6034,
    0x6038, 0x603c, 0x6040, 0x6044, 0x6048, 0x604c, 0x6050, 0x6070, 0x607c, 0x6084,
    0x60dc, 0x700c, 0x7010, 0x7014, 0x7018, 0x701c, 0x7024, 0x7028, 0x7030,
};

// Registers that RK3588 does not have or has for something else.
constexpr uint16_t kCnaPointer = 0x1004, kPictureBytes = 0x1018, kCscPointer = 0x2004,
                   kCscConfig = 0x200c, kCorePointer = 0x3004, kCoreConfig = 0x300c,
                   kCoreUnnamed = 0x302c, kBiasUnits = 0x5024, kAddendEnd = 0x503c,
                   kSourceMode = 0x7018, kPoolingBorder3 = 0x604c, kPoolingBorder4 = 0x6050;

class Translation {
 public:
  explicit Translation(const RegisterTask& task) : task_(task) {
    for (const Command& command : task.commands) {
      if (command.operand == Operand::kNone) {
        image_.set(command.offset, command.value);
      } else {
        image_.set_address(command.offset, command.operand, command.value);
      }
    }
  }

  RegisterTask convolution() {
    shared();
    for (const uint16_t pointer : {kCnaPointer, kCscPointer, kCorePointer})
      image_.set(pointer, image_.get(reg::DPU_S_POINTER).value);
    const bool is_depthwise = get(reg::CORE_MISC_CFG__DW_EN) != 0;
    constexpr int kPrecisionShift = 12;
    const uint32_t precision = get(reg::CORE_MISC_CFG__PROC_PRECISION) << kPrecisionShift;
    image_.set(kCscConfig, precision | (is_depthwise ? 3 : 1));
    image_.set(kCoreConfig, precision | (is_depthwise ? 2 : 0));
    image_.set(kCoreUnnamed, 0);
    fetch();
    // Borders of depthwise layers come in pairs of bytes on RK3588.
    constexpr RegisterField kBorder{"PAD_VALUE", reg::CNA_PAD_CON0, 16, 31};
    image_.set(kBorder, static_cast<int8_t>(get(kBorderByte)));
    // The converter's type counts only where it is not bypassed; one offset for all weights fills its register.
    constexpr RegisterField kConversionThere{"CVT_TYPE", reg::CNA_CVT_CON0, 0, 0};
    if (get(reg::CNA_CVT_CON0__CVT_BYPASS) != 0) image_.set(kConversionThere, 0);
    const auto offset = static_cast<int16_t>(get(reg::DPU_BS_OW_OP__OW_OP));
    image_.set(reg::DPU_BS_OW_OP, static_cast<uint32_t>(int32_t{offset}));
    const bool all = get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE) != 1;
    const uint32_t channels = get(reg::DPU_DATA_CUBE_CHANNEL__CHANNEL) + 1;
    image_.set(kBiasUnits, (all ? channels : channels / 2) - 1);
    if (has_operand()) {
      addend();
    } else if (precision != 0) {
      // What the reader brings is the bias alone.
      constexpr int64_t kF32 = 5;
      image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION, kF32);
    }
    return in_order(kConvolutionOrder, task_.units | kCsc);
  }

  RegisterTask dpu() {
    shared();
    constexpr uint32_t kOff = 1;
    image_.set(reg::DPU_RDMA_RDMA_BRDMA_CFG, kOff);
    image_.set(kBiasUnits, 0);
    image_.set(kAddendEnd, 0);
    if (has_operand()) types();
    return in_order(kDpuOrder, task_.units);
  }

  RegisterTask pooling() {
    shared();
    // The least int8 with the bits that mark it as the border of a MaxPool, and the least half.
    constexpr uint32_t kInt8Border = 0x7ff80, kHalfBorder = 0xfbff;
    const bool halves = get(reg::PPU_DATA_FORMAT__PROC_PRECISION) == kHalf;
    const bool largest = get(reg::PPU_OPERATION_MODE_CFG__POOLING_METHOD) == 1;
    const uint32_t border = !largest ? 0 : halves ? kHalfBorder : kInt8Border;
    for (const uint16_t offset : {reg::PPU_PADDING_VALUE_1_CFG, reg::PPU_PADDING_VALUE_2_CFG,
                                  kPoolingBorder3, kPoolingBorder4})
      image_.set(offset, border);
    image_.set(kSourceMode, 1);
    image_.set(reg::PPU_RDMA_RDMA_DATA_FORMAT, halves ? kHalf : 0);
    return in_order(kPoolingOrder, task_.units);
  }

 private:
  // Of RK3588's form, whatever was moved since.
  uint32_t get(const RegisterField& field) const {
    const Command* const command = task_.find(field.offset);
    return command == nullptr ? 0 : field.get(command->value);
  }

  bool has_operand() const {
    return task_.find(reg::DPU_RDMA_RDMA_ERDMA_CFG) != nullptr &&
           get(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DISABLE) == 0;
  }

  // Moved fields, strides in bytes, shorter bursts.
  void shared() {
    for (const target::MovedField& moved : target::rk3566_moved_fields())
      if (task_.find(moved.rk3588.offset) != nullptr) image_.set(moved.rk3588, 0);
    for (const target::MovedField& moved : target::rk3566_moved_fields())
      if (task_.find(moved.rk3588.offset) != nullptr) image_.set(moved.rk3566, get(moved.rk3588));
    for (const uint16_t offset : target::rk3566_strides()) {
      const Command* const command = task_.find(offset);
      if (command != nullptr)
        image_.set(offset, static_cast<uint32_t>(static_cast<int32_t>(command->value & ~15U) / 2) |
                               (command->value & 7));
    }
    if (task_.find(reg::DPU_FEATURE_MODE_CFG) == nullptr) return;
    constexpr int64_t kBurst = 4, kReaderBurst = 8;
    constexpr RegisterField kBurstThere{"BURST_LEN", reg::DPU_FEATURE_MODE_CFG, 6, 9};
    image_.set(kBurstThere, kBurst);
    image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__BURST_LEN, kReaderBurst);
    image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__MRDMA_DISABLE, 0);
    image_.set(reg::DPU_RDMA_RDMA_NRDMA_CFG, 1);
    // Halves become float32 and halves again without being told.
    image_.set(reg::DPU_OUT_CVT_SCALE__FP32TOFP16_EN, 0);
    image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__MRDMA_FP16TOFP32_EN, 0);
  }

  void fetch() {
    const uint32_t width = get(reg::CNA_DATA_SIZE0__DATAIN_WIDTH);
    const uint32_t rows = get(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT);
    const uint32_t picture = get(reg::CNA_CONV_CON1__ARGB_IN);
    image_.set(reg::CNA_CONV_CON1__NONALIGN_DMA, 0);
    image_.set(reg::CNA_CONV_CON1__GROUP_LINE_OFF, 0);
    constexpr uint32_t kThreeChannels = 10, kPerPixel = 9;
    image_.set(kPictureBytes, picture == kThreeChannels ? rows * width * kPerPixel : 0);
    // Rows of a picture of one channel are fetched in whole units of eight bytes.
    constexpr uint32_t kOneChannel = 8;
    const uint32_t element = get(reg::CNA_CONV_CON1__IN_PRECISION) == kHalf ? 2 : 1;
    const uint32_t unit = 8 / element;
    const uint32_t fetched = picture == kOneChannel ? (width + unit - 1) / unit * unit : width;
    image_.set(reg::CNA_CBUF_CON1, fetched << 16 | (get(kEntries) & 0xffff));
    image_.set(reg::CNA_FC_DATA_SIZE0__DMA_WIDTH, fetched);
    constexpr uint32_t kBursts = 0x171c07;
    image_.set(reg::CNA_DMA_CON0, kBursts);
    // Rows of a feature one by one, of a picture in units of eight bytes; planes from start to start.
    const uint32_t line = get(reg::CNA_DMA_CON1__LINE_STRIDE);
    image_.set(reg::CNA_DMA_CON1, picture != 0 ? (line * (picture - 7) * element + 7) / 8 : line);
    image_.set(reg::CNA_DMA_CON2,
               get(reg::CNA_DMA_CON2__SURF_STRIDE) + (picture != 0 ? line : width));
  }

  // Operands are counted from zero, int8 first; and where their last pixel begins.
  void types() {
    const uint32_t pixels =
        (get(reg::DPU_DATA_CUBE_WIDTH__WIDTH) + 1) * (get(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT) + 1);
    image_.set(kAddendEnd, static_cast<uint32_t>((pixels - 1) * kRk3566.atom_bytes));
    image_.set(reg::DPU_EW_CFG__EDATA_SIZE, 0);
    image_.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE,
               get(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE) - 1);
  }

  // One stream brings the operand, from its first plane on.
  void addend() {
    types();
    const Command* const first = task_.find(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
    image_.set_address(reg::DPU_RDMA_RDMA_EW_BASE_ADDR, Operand::kAddend, first->value);
    image_.set(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, 0);
    image_.set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE, 0);
    image_.set(reg::DPU_RDMA_RDMA_SURF_NOTCH, 0);
  }

  RegisterTask in_order(std::span<const uint16_t> order, uint32_t units) const {
    RegisterTask out;
    out.units = units;
    constexpr uint32_t kReads = 0x10;
    for (const uint16_t offset : order) {
      const bool is_readers = offset >= kReader && offset < kPooling;
      if (!is_readers || (units & kReads) != 0) out.commands.push_back(image_.get(offset));
    }
    return out;
  }

  static constexpr RegisterField kBorderByte{"PAD_VALUE", reg::CNA_PAD_CON1, 0, 7};
  static constexpr RegisterField kEntries{"ENTRIES", reg::CNA_CBUF_CON1, 0, 15};

  const RegisterTask& task_;
  RegisterImage image_;
};

}  // namespace

RegisterTask for_rk3566(const RegisterTask& task) {
  Translation translation(task);
  if (task.units == kPools) return translation.pooling();
  if ((task.units & 1) != 0) return translation.convolution();
  return translation.dpu();
}

bool loads_tables(const RegisterTask& task) {
  return std::ranges::count(task.commands, reg::DPU_LUT_ACCESS_DATA, &Command::offset) > 1;
}

std::vector<RegisterTask> table_loads_for_rk3566(const RegisterTask& task) {
  RegisterTask empty = for_rk3566(task);
  // One atom is moved to its own place.
  const auto last = static_cast<uint32_t>(kRk3566.atom_bytes - 1);
  for (Command& command : empty.commands) {
    if (command.offset == reg::DPU_DATA_CUBE_CHANNEL) command.value = last << 16 | last;
    if (command.offset == reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL) command.value = last;
    const bool access =
        command.offset == reg::DPU_LUT_ACCESS_CFG || command.offset == reg::DPU_LUT_ACCESS_DATA;
    if (access) command.value = 0;
  }
  // Tables come after the list's own registers, each after the word that opens it.
  std::vector<RegisterTask> loads;
  uint32_t second = 0;
  constexpr size_t kOwnRegisters = 69;
  for (size_t i = kOwnRegisters; i < task.commands.size(); ++i) {
    const Command& command = task.commands[i];
    if (command.offset == reg::DPU_LUT_ACCESS_CFG) {
      if (!loads.empty()) loads.back().commands.push_back({reg::DPU_LUT_ACCESS_DATA, second});
      loads.push_back(empty);
    } else if (!loads.empty() && loads.back().commands.back().offset == reg::DPU_LUT_ACCESS_DATA &&
               loads.back().commands.size() == empty.commands.size() + 2) {
      second = command.value;
    }
    if (!loads.empty()) loads.back().commands.push_back(command);
  }
  if (!loads.empty()) loads.back().commands.push_back({reg::DPU_LUT_ACCESS_DATA, second});
  return loads;
}

}  // namespace rk::registers
