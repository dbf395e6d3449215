// SPDX-License-Identifier: Apache-2.0
#include "registers/rk3576.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "registers/convolution.h"
#include "registers/rk3562.h"
#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
namespace from = target::rk3562_reg;
namespace there = target::rk3576_reg;
using target::RegisterField;
using target::StageNumbers;

constexpr uint32_t kArray = 0x1, kReads = 0x10, kPools = 0x60;  // bits of units
constexpr uint32_t kHalf = 2;                                   // of precision fields: float16
constexpr uint32_t kKeepBit = 0x80000000;

// Registers of lists, in their order.
constexpr uint16_t kConvolutionOrder[] = {
    0x1004, 0x3004, 0x1038, 0x4004, 0x5004, 0x100c, 0x1010, 0x1014, 0x1018, 0x101c, 0x1020,
    0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038, 0x103c, 0x1040, 0x1044, 0x1048, 0x104c,
    0x1050, 0x1054, 0x1058, 0x105c, 0x1060, 0x1064, 0x1068, 0x106c, 0x1070, 0x1074, 0x1078,
    0x107c, 0x1080, 0x1084, 0x1088, 0x108c, 0x1090, 0x1094, 0x1098, 0x109c, 0x1100, 0x1104,
    0x1110, 0x1140, 0x1144, 0x118c, 0x3018, 0x301c, 0x3020, 0x3024};
// The DPU and its reader; convolutions have set both pointers before.
constexpr uint16_t kDpuOrder[] = {
    0x4004, 0x5004, 0x400c, 0x4010, 0x4014, 0x4018, 0x401c, 0x4020, 0x4024, 0x4028, 0x402c, 0x4030,
    0x4034, 0x4038, 0x403c, 0x4044, 0x4048, 0x404c, 0x4050, 0x4058, 0x405c, 0x4060, 0x406c, 0x4070,
    0x4074, 0x4078, 0x407c, 0x4080, 0x4084, 0x4088, 0x408c, 0x4090, 0x4094, 0x409c, 0x40a4, 0x40a8,
    0x40ac, 0x40b0, 0x40b4, 0x40b8, 0x40bc, 0x40c0, 0x40c8, 0x40cc, 0x40d0, 0x4100, 0x4104, 0x4108,
    0x410c, 0x4110, 0x4114, 0x4118, 0x411c, 0x4120, 0x4130, 0x4140, 0x4144, 0x4148, 0x414c, 0x4150,
    0x4154, 0x4160, 0x4170, 0x4174, 0x4184, 0x4188, 0x418c, 0x4190, 0x4194, 0x500c, 0x5010, 0x5014,
    0x5018, 0x501c, 0x5020, 0x5024, 0x5028, 0x502c, 0x5030, 0x5034, 0x5038, 0x5040, 0x5044, 0x5048,
    0x504c, 0x5064, 0x506c, 0x5078, 0x507c};
constexpr size_t kPointers = 2;
constexpr uint16_t kPoolingOrder[] = {
    0x6004, 0x7004, 0x600c, 0x6010, 0x6014, 0x6018, 0x601c, 0x6020, 0x6024, 0x6034, 0x6038,
    0x603c, 0x6040, 0x6044, 0x6048, 0x604c, 0x6050, 0x6054, 0x6058, 0x605c, 0x6070, 0x607c,
    0x6084, 0x60dc, 0x700c, 0x7010, 0x7014, 0x701c, 0x7024, 0x7028, 0x7030};

class Translation {
 public:
  Translation(const Chip& chip, const RegisterTask& task, const RegisterTask& list, uint32_t core,
              CoreUse use)
      : chip_(chip), task_(task), core_(core), use_(use) {
    for (const Command& command : list.commands) {
      if (command.operand == Operand::kNone) {
        image_.set(command.offset, command.value);
      } else {
        image_.set_address(command.offset, command.operand, command.value);
      }
    }
    out_.task.units = task.units;
  }

  Result<Rk3576List> convolution() {
    RK_TRY(fetch());
    banks();
    RK_TRY(stages());
    append_convolution();
    return std::move(out_);
  }

  // The convolution of one pixel that ends what two cores do apart.
  Result<Rk3576List> fence() {
    RK_TRY(fetch());
    banks();
    RK_TRY(stages());
    constexpr uint32_t kUnlimited = 0x80000000;
    image_.set(there::kTwoCores, 1);
    image_.set(there::kBanks, kKeepBit | static_cast<uint32_t>(chip_.banks));
    image_.set(there::kEndsApart, 1);
    // Neither constants of channels nor limits: a number of the stage is added to sums.
    constexpr uint32_t kAddsNumber = 0x20040;
    image_.set(0x4038, kAddsNumber);
    image_.set(0x4044, 0U);
    image_.set(there::kFactorSource, 0);
    image_.set(there::kFactorOff, 1);
    image_.set(from::kNorm, there::kNormOff);
    for (const uint16_t limit : {0x406c, 0x4074}) image_.set(limit, kUnlimited);
    image_.set(from::kReaderChannels, 0);
    constexpr uint32_t kUse = target::kUseOffset | target::kUseShifts;
    image_.set(0x501c, kUse);
    image_.set(0x5020, 0U);
    out_.bias_numbers = target::write_stage(kUse, {});
    append_convolution();
    return std::move(out_);
  }

  Result<Rk3576List> dpu() {
    if (get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__UNPOOLING_EN) != 0)
      return unsupported("no register form for an enlargement by the DPU");
    RK_TRY(stages());
    append(kDpuOrder);
    tables();
    return std::move(out_);
  }

  Rk3576List pooling() {
    image_.set(reg::PPU_MISC_CTRL, 0U);
    append(kPoolingOrder);
    return std::move(out_);
  }

 private:
  // Of the list for RK3588.
  uint32_t get(uint16_t offset) const {
    const Command* const command = task_.find(offset);
    return command == nullptr ? 0 : command->value;
  }
  uint32_t get(const RegisterField& field) const { return field.get(get(field.offset)); }
  // Of the list for RK3562, as far as it was not changed.
  uint32_t image(uint16_t offset) const { return image_.get(offset).value; }
  uint32_t image(const RegisterField& field) const { return field.get(image(field.offset)); }

  bool convolves() const { return (task_.units & kArray) != 0; }
  bool reads() const { return (task_.units & kReads) != 0; }
  bool is_half() const { return get(reg::DPU_DATA_FORMAT__PROC_PRECISION) == kHalf; }
  uint32_t element_bytes() const { return is_half() ? 2 : 1; }
  bool is_depthwise() const { return get(reg::CORE_MISC_CFG__DW_EN) != 0; }
  bool is_picture() const { return get(reg::CNA_CONV_CON1__ARGB_IN) != 0; }
  bool has_operand() const {
    return reads() && get(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DISABLE) == 0;
  }
  bool looks_up() const { return get(reg::DPU_EW_CFG__EW_LUT_BYPASS) == 0; }
  // Bias alone: no multiplier, and no offsets between depthwise weights.
  bool is_alone() const { return get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE) == 1; }

  Status fetch() {
    constexpr uint32_t kSingleLines = 0x20000000, kInRows = 4, kPicture = 2;
    constexpr uint32_t kArgb = 0xf000;
    const uint32_t width = get(reg::CNA_DATA_SIZE0__DATAIN_WIDTH);
    const uint32_t entries = get(reg::CNA_CBUF_CON1);
    const bool in_rows = task_.weights_in_rows;
    const uint32_t mode = image(uint16_t{0x100c});
    constexpr uint32_t kHalves = 0x200120;
    image_.set(0x100c, (is_depthwise() ? 1U : 0U) | (mode & kSingleLines) |
                           (is_half() ? kHalves : 0) |
                           (is_picture() ? kPicture | kSingleLines | (mode & kArgb) : 0) |
                           (in_rows ? kInRows : 0));
    image_.set(0x1010, chip_.cores == 1 ? 0x3fff : 0xfff);
    const uint32_t bytes = image(from::kKernelBytes);
    const uint32_t kernels = image(from::kKernels);
    constexpr uint32_t kDenseAtoms = 2, kDepthwiseAtoms = 8;
    // float16: half as many kernels together.
    const uint32_t atoms =
        (is_depthwise() ? bytes / kDepthwiseAtoms : bytes * kDenseAtoms) / element_bytes();
    if (atoms > UINT16_MAX) return unsupported("no register form for kernels of more than 32 KiB");
    const uint32_t kernel_h = get(reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT);
    const uint32_t kernel_w = get(reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH);
    image_.set(0x1020, bytes);
    image_.set(0x1024, (kernel_w - 1) << 24 | (kernel_h - 1) << 16 | (kernels - 1));
    const uint32_t fetched = get(reg::CNA_FC_DATA_SIZE0__DMA_HEIGHT);
    const uint32_t channels = get(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL_REAL) + 1;
    constexpr uint32_t kLanes = 4;
    const uint32_t walked = in_rows ? kLanes * kernel_w : channels;
    image_.set(0x1028, fetched * entries << 16 | (walked - 1));
    const uint32_t rows = get(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT);
    image_.set(0x102c, (width - 1) << 16 | (rows - 1));
    image_.set(0x1030, atoms << 16 | (get(reg::CNA_DATA_SIZE2__DATAOUT_WIDTH) - 1));
    image_.set(0x1034, get(reg::CNA_DATA_SIZE3__DATAOUT_ATOMICS) - 1);
    image_.set(0x106c, 0U);
    image_.set(0x1078, (width - 1) << 16 | (fetched - 1));
    image_.set(0x107c, channels - 1);
    constexpr uint32_t kBursts = 0xf000f;
    image_.set(0x108c, kBursts);
    constexpr uint32_t kPixels = 4;
    const uint32_t pixels = width * fetched;
    image_.set(0x1098, pixels == 1 ? 1 : align_up(pixels, kPixels));
    if (is_picture()) {
      constexpr uint32_t kPictureOf = 7, kAtom = 16, kEntry = 64;
      const auto padded = align_up<uint32_t>(width, kAtom / element_bytes());
      const uint32_t row =
          padded * (get(reg::CNA_CONV_CON1__ARGB_IN) - kPictureOf) * element_bytes() / kAtom;
      if (in_rows) {
        // The border's value of each channel.
        constexpr uint32_t kByte = 0xff;
        uint32_t border = 0;
        for (uint32_t c = 0; c < channels; ++c) border |= (image(from::kBorder) & kByte) << 8 * c;
        image_.set(from::kBorder, border);
        image_.set(from::kPictureBorder, stored_border(channels));
      }
      image_.set(0x1044, padded << 16 | (in_rows ? entries : padded));
      image_.set(0x1078, (row - 1) << 16 | (fetched - 1));
      image_.set(0x1090, row);
      image_.set(0x1094, row * fetched);
      image_.set(0x1098, row * fetched);
      image_.set(0x118c,
                 (entries - 1) << 16 | (ceil_div(width * kLanes * element_bytes(), kEntry) - 1));
    }
    constexpr uint32_t kAll = 0x10000000, kDense = 1, kDepthwise = 0xa, kOfPicture = 0x80;
    constexpr uint32_t kOfHalves = 0x200;
    const uint32_t numbers = is_half() ? kOfHalves : is_depthwise() ? 0 : kDense;
    image_.set(0x3018, kAll | numbers | (is_depthwise() ? kDepthwise : 0) |
                           (is_picture() ? kOfPicture : 0));
    image_.set(0x3020, get(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL));
    image_.set(0x3024, get(reg::CORE_CLIP_TRUNCATE__CLIP_TRUNCATE));
    return ok_status();
  }

  // The byte of each channel that an application stores for the border.
  uint32_t stored_border(uint32_t channels) const {
    constexpr uint16_t kChannels[] = {reg::CNA_CVT_CON1, reg::CNA_CVT_CON2, reg::CNA_CVT_CON3,
                                      reg::CNA_CVT_CON4};
    const RegisterField shifts[] = {
        reg::CNA_CVT_CON0__CVT_TRUNCATE_0, reg::CNA_CVT_CON0__CVT_TRUNCATE_1,
        reg::CNA_CVT_CON0__CVT_TRUNCATE_2, reg::CNA_CVT_CON0__CVT_TRUNCATE_3};
    if (get(reg::CNA_CVT_CON0__CVT_BYPASS) != 0) return 0;
    uint32_t out = 0;
    for (uint32_t c = 0; c < std::min<uint32_t>(channels, std::size(kChannels)); ++c) {
      const auto scale = static_cast<int16_t>(get(kChannels[c]) >> 16);
      const auto offset = static_cast<int16_t>(get(kChannels[c]));
      if (scale <= 0) return 0;
      const double border = static_cast<int8_t>(get(reg::CNA_PAD_CON1));
      const double unit = static_cast<double>(int64_t{1} << get(shifts[c])) / scale;
      const double byte = std::clamp(std::nearbyint((border - offset) * unit), 0.0, 255.0);
      out |= static_cast<uint32_t>(byte) << 8 * c;
    }
    return out;
  }

  // Banks of the core: rows in the first ones, weights behind them.
  void banks() {
    constexpr uint32_t kBankMode = 0x40000000, kOfSecondCore = 0x100;
    const auto of_core = static_cast<uint32_t>(chip_.banks);
    const uint32_t first = core_ * of_core, data = get(reg::CNA_CBUF_CON0__DATA_BANK);
    const uint32_t start = first * there::kBankEntries;
    image_.set(0x1018, kBankMode | data << 8 | (first + data) |
                           (get(reg::CNA_CBUF_CON0__DATA_REUSE) != 0 ? kKeepBit : 0));
    const bool alone = use_ == CoreUse::kAlone;
    image_.set(there::kBanks, (first + of_core) | (core_ != 0 && alone ? kOfSecondCore : 0) |
                                  (get(reg::CNA_CBUF_CON0__WEIGHT_REUSE) != 0 ? kKeepBit : 0));
    image_.set(from::kFirstEntry, start + task_.first_entry);
    image_.set(from::kRingEntries, (first + data) * there::kBankEntries);
    image_.set(from::kWriteEntry, start + task_.write_entry);
    if (use_ == CoreUse::kTogether) shared_banks(data);
  }

  // Rows of the first core, rows of the second one, then weights, which the first one fetches.
  void shared_banks(uint32_t data) {
    constexpr uint32_t kBankMode = 0x40000000, kAllBanks = 16, kFetchedByOther = 0x80000000;
    const uint32_t first = core_ * data, start = first * there::kBankEntries;
    image_.set(there::kTwoCores, 1);
    image_.set(0x1018, kBankMode | data << 8 | (first + data));
    image_.set(there::kBanks, kAllBanks | (core_ != 0 ? kFetchedByOther : 0));
    image_.set(from::kFirstEntry, start);
    image_.set(from::kRingEntries, 2 * data * there::kBankEntries);
    image_.set(from::kWriteEntry, start);
  }

  Status stages() {
    constexpr uint32_t kWriting = 0x4440000, kOfArray = 0x100, kUnnamed = 0x40ffff;
    constexpr uint32_t kTogether = 0x710, kTogetherDepthwise = 0x310, kTogetherCopy = 0xf00;
    constexpr uint32_t kToMemory = 4, kDepthwise = 8, kFromArray = 0x40000000, kCopies = 5;
    image_.set(0x400c,
               !convolves() ? kCopies : kFromArray | kToMemory | (is_depthwise() ? kDepthwise : 0));
    constexpr uint32_t kHalves = 0x40000002;
    image_.set(0x4010, is_half() ? kHalves : 0);
    image_.set(from::kAtomsTogether, !convolves()     ? kTogetherCopy
                                     : is_depthwise() ? kTogetherDepthwise
                                                      : kTogether);
    image_.set(0x40c0, convolves() ? kWriting | kOfArray : kWriting);
    image_.set(0x40d0, kUnnamed);
    groups();
    bias();
    RK_TRY(norm());
    reader();
    return ok_status();
  }

  // Planes that leave together, those of the last channels, and the way from the end of the first
  // of them to the next ones.
  void groups() {
    const uint32_t lanes = 16 / element_bytes();
    const uint32_t planes = get(reg::DPU_BS_OW_CFG__SIZE_E_0) + 1;
    const uint32_t channels = get(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL) + 1;
    const uint32_t last = (channels - 1) % (planes * lanes) / lanes, size = planes - 1;
    const bool factor_off = image(from::kFactorOff) != 0;
    const uint32_t sizes = convolves() ? size << 12 | last << 8 | size << 4 | size : 0;
    image_.set(0x4050, sizes | image(from::kFactorSource) << 16 | (factor_off ? 1U : 0U) << 17 |
                           (convolves() && !is_depthwise() && !is_half() ? kKeepBit : 0));
    const uint32_t pixels =
        (get(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA) + 1) * (get(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA) + 1);
    constexpr uint32_t kBits = 0xfffffff;
    image_.set(0x40b8, (get(reg::DPU_SURFACE_ADD__SURF_ADD) - pixels) & kBits);
    // Copies say here whether they multiply.
    constexpr uint32_t kCopiesOnly = 2;
    const bool plain = convolves() ? is_half() && !is_depthwise() : factor_off;
    image_.set(0x4044, plain ? kCopiesOnly : convolves() ? image(from::kOffsetSource) : 0);
  }

  void bias() {
    const uint32_t shift = image(from::kBiasShift), below = image(from::kOffsetShift);
    image_.set(from::kBiasShift, 0);
    StageNumbers numbers{.addend = 0,
                         .offset = 0,
                         .factor = static_cast<int16_t>(get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND)),
                         .shift = static_cast<uint8_t>(shift),
                         .shift_below = static_cast<uint8_t>(below)};
    uint32_t use = 0;
    if (!reads()) return;
    if (is_half()) {
      // Depthwise layers read shifts that are zero.
      image_.set(0x501c, 0U);
      if (convolves()) image_.set(there::kConstants, 1);
      if (is_depthwise()) use = target::kUseShifts;
      numbers = {};
    } else if (convolves()) {
      constexpr uint32_t kWithoutOffsets = 5;
      numbers.offset = static_cast<int16_t>(image(from::kOffsetValue));
      use = target::kUseShifts | (is_alone() && !is_depthwise() ? target::kUseOffset : 0);
      image_.set(0x501c, 0U);
      image_.set(there::kConstants, is_alone() ? 1 : is_depthwise() ? kWithoutOffsets : 7);
    } else if (get(reg::DPU_BS_CFG__BS_BYPASS) == 0) {
      numbers.addend = static_cast<int32_t>(get(reg::DPU_BS_ALU_CFG));
      use = target::kUseAddend;
      if (get(reg::DPU_BS_CFG__BS_MUL_BYPASS) == 0) use |= target::kUseFactor | target::kUseShifts;
    }
    image_.set(there::kBiasUse, use);
    if (use == 0) return;
    out_.bias_numbers = target::write_stage(use, numbers);
    image_.set_address(there::kBiasNumbers, Operand::kBiasNumbers, 0);
  }

  Status norm() {
    struct Mode {
      uint32_t rk3562, rk3576, use;
    };
    constexpr uint32_t kIndexUse = target::kUseAddend | target::kUseFactor | target::kUseShifts;
    constexpr uint32_t kSlopeUse = target::kUseFactor | target::kUseShifts;
    constexpr Mode kModes[] = {{0x13, there::kNormOff, 0},
                               {0x12, there::kNormLimits, 0},
                               {0x22, there::kNormSlope, kSlopeUse},
                               {0x20000, there::kNormIndex, kIndexUse}};
    const auto* const mode = std::ranges::find(kModes, image(from::kNorm), &Mode::rk3562);
    if (mode == std::end(kModes)) return unsupported("no register form for a batch-norm stage");
    image_.set(from::kNorm, mode->rk3576);
    image_.set(there::kNormUse, mode->use);
    if (mode->use == 0) return ok_status();
    const uint32_t factor = image(from::kNormFactor);
    const auto shift = static_cast<uint8_t>(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE.get(factor));
    const StageNumbers numbers{.addend = static_cast<int32_t>(image(from::kNormAddend)),
                               .offset = 0,
                               .factor = static_cast<int16_t>(factor >> 16),
                               .shift = shift,
                               .shift_below = shift};
    out_.norm_numbers = target::write_stage(mode->use, numbers);
    image_.set_address(there::kNormNumbers, Operand::kNormNumbers, 0);
    return looks_up() ? lookup() : ok_status();
  }

  // Ranges of both tables, their ends and the slope above them.
  Status lookup() {
    constexpr uint32_t kUse = 0x2000006, kTwice = 0x10001, kFourTimes = 0x01010101;
    if (get(reg::DPU_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_UFLOW_SCALE) != 0)
      return unsupported("no register form for a table with a slope below it on RK3576");
    const uint32_t above = get(reg::DPU_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE);
    const uint32_t shift = get(reg::DPU_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT);
    for (const uint16_t place : {0x4170, 0x4174}) image_.set(place, above * kTwice);
    image_.set(0x4184, shift * kFourTimes);
    for (const uint16_t place : {0x4120, 0x4130}) image_.set(place, 0U);
    const auto first = static_cast<uint16_t>(task_.first_table_entry);
    const auto last = static_cast<uint16_t>(task_.last_table_entry);
    image_.set(there::kFarEntries[0], uint32_t{first} << 16);
    image_.set(there::kFarEntries[1], first * kTwice);
    image_.set(there::kFarEntries[2], uint32_t{last} << 16);
    image_.set(there::kFarEntries[3], last * kTwice);
    const uint32_t start = get(reg::DPU_LUT_LE_START), end = get(reg::DPU_LUT_LO_END);
    image_.set(from::kTable, kUse);
    for (const uint16_t place : {0x4110, 0x4114, 0x4118, 0x411c}) image_.set(place, start);
    for (const uint16_t place : {0x4140, 0x4144, 0x4148, 0x414c}) image_.set(place, end);
    return ok_status();
  }

  void reader() {
    constexpr uint32_t kNone = 1, kNumbers = 0x40, kOfArray = 0x10000000;
    const uint32_t operand = 0x40000000 | element_bytes() << 2;
    const bool numbers = !out_.bias_numbers.empty() || (is_half() && has_operand());
    image_.set(0x5034, (has_operand() ? operand | (convolves() ? kOfArray : 0) : kNone) |
                           (numbers ? kNumbers : 0));
    constexpr uint32_t kCopies = 9, kBehindArray = 0x40000010, kDepthwise = 2, kOfOperand = 8;
    constexpr uint32_t kHalves = 0x10040;
    const uint32_t behind =
        kBehindArray | (is_depthwise() ? kDepthwise : 0) | (has_operand() ? kOfOperand : 0);
    image_.set(from::kReader, (is_half() ? kHalves : 0) | (convolves() ? behind : kCopies));
    image_.set(from::kReadsMemory, !convolves() || has_operand() || is_half() ? 1 : 0);
    if (convolves() || has_operand()) image_.set(from::kReaderChannels, image(from::kChannels));
    if (!convolves() || !has_operand()) return;
    const uint32_t plane = get(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE);
    const uint32_t pixels =
        (get(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA) + 1) * (get(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA) + 1);
    for (const uint16_t place : {0x504c, 0x506c}) image_.set(place, 2 * plane - pixels);
  }

  // Entries come after the list's own registers, each table after the word that opens it.
  void tables() {
    constexpr size_t kOwnRegisters = 69;
    if (task_.commands.size() <= kOwnRegisters) return;
    constexpr uint32_t kLoad = 0xff0000;
    std::vector<Command>& commands = out_.task.commands;
    for (Command& command : commands)
      if (command.offset == from::kTable) command.value = kLoad;
    commands.insert(commands.end(), task_.commands.begin() + kOwnRegisters, task_.commands.end());
  }

  // Lists of two cores have the banks once only.
  void append_convolution() {
    constexpr size_t kBanksAtStart = 2;
    std::span<const uint16_t> order(kConvolutionOrder);
    if (use_ != CoreUse::kAlone) {
      append(order.first(kBanksAtStart));
      order = order.subspan(kBanksAtStart + 1);
    }
    append(order);
    append(std::span(kDpuOrder).subspan(kPointers));
  }

  void append(std::span<const uint16_t> order) {
    constexpr uint16_t kReaderFirst = 0x5000, kReaderEnd = 0x6000;
    for (const uint16_t offset : order) {
      const bool is_readers = offset >= kReaderFirst && offset < kReaderEnd;
      if (!is_readers || reads()) out_.task.commands.push_back(image_.get(offset));
    }
  }

  const Chip& chip_;
  const RegisterTask& task_;
  const uint32_t core_;
  const CoreUse use_;
  RegisterImage image_;
  Rk3576List out_;
};

// One type from end to end; no lanes with a number of their own, not the largest channel.
Status check_known(const RegisterTask& task) {
  const auto get = [&](const RegisterField& field) {
    const Command* const command = task.find(field.offset);
    return command == nullptr ? 0 : field.get(command->value);
  };
  if (get(reg::DPU_DATA_FORMAT__OUT_PRECISION) != get(reg::DPU_DATA_FORMAT__PROC_PRECISION))
    return unsupported("no register form for a conversion on RK3576");
  if (get(reg::DPU_OFFSET_PEND__OFFSET_PEND) != 0 ||
      get(reg::DPU_DATA_CUBE_HEIGHT__MINMAX_CTL) != 0 ||
      get(reg::DPU_FEATURE_MODE_CFG__NONALIGN) != 0)
    return unsupported("no register form for the largest channel on RK3576");
  return ok_status();
}

}  // namespace

Result<Rk3576List> for_rk3576(const Chip& chip, const RegisterTask& task, uint32_t core,
                              CoreUse use) {
  RK_TRY(check_known(task));
  RK_ASSIGN(const RegisterTask list, for_rk3562(task));
  Translation translation(chip, task, list, core, use);
  if (task.units == kPools) return translation.pooling();
  return (task.units & kArray) != 0 ? translation.convolution() : translation.dpu();
}

Result<Rk3576Fence> fence_of_rk3576(const Chip& chip) {
  ConvLayer layer;
  layer.in = {.channels = kFenceChannels, .height = 1, .width = 1, .chip = &chip};
  layer.out = layer.in;
  layer.weight_bytes = kFenceChannels * kFenceChannels;
  layer.params.kernel = layer.params.stride = layer.params.dilation = {1, 1};
  constexpr int32_t kOne = 16384, kOneShift = 14;
  layer.params.output = {.scale = {.scale = kOne, .shift = kOneShift}, .zero_point = 0};
  RK_ASSIGN(const std::vector<ConvTile> tiles, tile_convolution(layer));
  Rk3576Fence out;
  RK_ASSIGN(out.task, write_convolution(layer, tiles.front()));
  RK_ASSIGN(const RegisterTask list, for_rk3562(out.task));
  RK_ASSIGN(out.list, Translation(chip, out.task, list, 0, CoreUse::kApart).fence());
  return out;
}

}  // namespace rk::registers
