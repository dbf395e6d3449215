// SPDX-License-Identifier: Apache-2.0
// Lists of RK3562, brought into the positions of RK3588. What no known list of the chip has is
// refused.
#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "target/rk3562_registers.h"

namespace rk::target {
namespace {

namespace here = rk3562_reg;

constexpr uint32_t kConvolves = 1, kReads = 0x10, kPools = 0x20;
constexpr uint32_t kHalf = 2;  // of precision fields: float16

class Positions {
 public:
  explicit Positions(const RegisterFile& raw) : raw_(raw) {
    for (const PlacedField& field : rk3562_fields()) set(field.rk3588, raw.get(field.rk3562));
    for (const PlacedRegister& address : rk3562_addresses())
      set(address.rk3588, raw.get(address.rk3562));
  }
  void set(uint16_t offset, uint32_t value) { out_.write({0, value, offset}); }
  void set(const RegisterField& field, uint32_t value) {
    const auto mask = static_cast<uint32_t>((uint64_t{1} << (field.high - field.low + 1)) - 1);
    set(field.offset, (out_.get(field.offset) & ~(mask << field.low)) | (value & mask)
                                                                            << field.low);
  }
  uint32_t raw(const RegisterField& field) const { return raw_.get(field); }
  uint32_t raw(uint16_t offset) const { return raw_.get(offset); }
  uint32_t out(const RegisterField& field) const { return out_.get(field); }

  bool is_half() const { return out(reg::DPU_DATA_FORMAT__PROC_PRECISION) == kHalf; }
  bool divides() const { return raw(here::kElements) == here::kDivides; }

  Status convolution(uint32_t units) {
    const uint32_t mode = raw(here::kConvMode);
    const uint32_t picture = raw(RegisterField{"ARGB_IN", 0x100c, 12, 15});
    constexpr uint32_t kDepthwise = 1, kPaired = 5, kPicture = 2;
    const uint32_t lanes = is_half() ? 8 : 16;  // of an atom
    const uint32_t numbers = raw(here::kPrecision);
    if (numbers != (is_half() ? kHalf : 0))
      return unsupported(str("a convolution of precision ", numbers, " on rk3562"));
    const bool is_picture = mode == kPicture && picture != 0;
    if (mode != 0 && mode != kDepthwise && mode != kPaired && !is_picture)
      return unsupported(str("convolution mode ", mode, " on rk3562"));
    const bool is_depthwise = mode == kDepthwise || mode == kPaired;
    set(reg::CNA_CONV_CON1__CONV_MODE, is_depthwise ? 3 : 0);
    set(reg::CNA_CONV_CON1__DECONV, raw(here::kNotTransposed) == 0 ? 1 : 0);
    // The converter of a picture turns what an application stores into the input's type. Here
    // pictures are stored in it, for which the loader of a file switches it off.
    constexpr uint32_t kBypassed = 0xb;
    if (!is_picture && raw(here::kConversion) != kBypassed)
      return unsupported("conversion of the input");
    set(reg::CNA_CVT_CON0__CVT_BYPASS, 1);
    const uint32_t channels = raw(here::kInChannels);
    set(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL, is_picture ? 4 : align_up(channels, lanes));
    set(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL_REAL, channels - 1);
    set(reg::CNA_WEIGHT_SIZE2__WEIGHT_KERNELS, raw(here::kKernels));
    set(reg::CNA_PAD_CON1, raw(here::kBorder));
    // Lines in atoms, or in quarters of them. Rows of a picture follow each other.
    const bool single = raw(here::kSingleLines) != 0;
    const uint32_t line = is_picture ? raw(here::kRowWidth) : raw(here::kLine);
    const uint32_t width = out(reg::CNA_DATA_SIZE0__DATAIN_WIDTH);
    set(reg::CNA_CONV_CON1__GROUP_LINE_OFF, single ? 1 : 0);
    set(reg::CNA_DMA_CON1__LINE_STRIDE, line);
    set(reg::CNA_DMA_CON2__SURF_STRIDE, raw(here::kPlane) - (single ? width : line));
    // Rows that stayed in the buffer lie before those that are fetched.
    const uint32_t kept =
        is_picture ? 0 : out(reg::CNA_DATA_SIZE0__DATAIN_HEIGHT) - raw(here::kFetchedRows);
    set(reg::CNA_FEATURE_DATA_ADDR, raw(here::kFeatureAddress) - kept * line * (single ? 16 : 4));
    if ((units & kReads) == 0) {
      // No constants.
      if (raw(here::kBias) != kNoBias) return unsupported("a bias that nothing reads on rk3562");
      set(reg::DPU_BS_CFG__BS_BYPASS, 1);
      return ok_status();
    }
    return constants(is_depthwise);
  }

  Status dpu() {
    constexpr uint32_t kAdds = 0x100012, kMultiplies = 0x52;
    const uint32_t stage = raw(here::kBias) & ~kShiftBits;
    if (stage == kNoBias) {
      set(reg::DPU_BS_CFG__BS_BYPASS, 1);
      return ok_status();
    }
    if (stage != kAdds && stage != kMultiplies)
      return unsupported(str("bias stage ", stage, " of a copy on rk3562"));
    if (raw(here::kFactorSource) != 0) return unsupported("factors of each channel in a copy");
    // Numbers below zero alone are multiplied, or all; then come limits.
    constexpr RegisterField kFactorMode{"FACTOR_MODE", 0x4044, 0, 15};
    constexpr uint32_t kBelowZero = 4, kLeast = 0x80000000, kMost = 0x7fffffff;
    const uint32_t low = raw(here::kLows[0]), high = raw(here::kHighs[0]);
    if (raw(kFactorMode) != 0 && raw(kFactorMode) != kBelowZero)
      return unsupported("a factor of an unknown kind on rk3562");
    if (low != 0 && (low != kLeast || high != kMost)) return unsupported("a lower limit on rk3562");
    set(reg::DPU_BS_CFG__BS_MUL_PRELU, raw(kFactorMode) == kBelowZero ? 1 : 0);
    set(reg::DPU_BS_CFG__BS_RELU_BYPASS, low == 0 ? 0 : 1);
    set(reg::DPU_BS_CFG__BS_RELUX_EN, high != kMost ? 1 : 0);
    set(reg::DPU_BS_RELUX_CMP_VALUE, high);
    set(reg::DPU_BS_CFG__BS_ALU_ALGO, kAddition);
    set(reg::DPU_BS_CFG__BS_ALU_BYPASS, stage == kAdds ? 0 : 1);
    set(reg::DPU_BS_ALU_CFG, raw(here::kBiasAddend));
    set(reg::DPU_BS_CFG__BS_MUL_BYPASS, raw(here::kFactorOff));
    set(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND, raw(here::kBiasFactor));
    shifts();
    return ok_status();
  }

  Status stages(uint32_t units) {
    constexpr uint32_t kIndexShift = 0xfc00, kHalves = 0x40000002;
    constexpr uint32_t kToHalves = 0x40000000, kToInt8 = 2;
    const uint32_t format = raw(here::kDpuFormat) & ~kIndexShift;
    // Halves under the name of 16-bit integers, in divisions and copies.
    const bool named =
        format == here::kNamedFormat &&
        (divides() || (raw(here::kElements) == kNothing && raw(here::kBias) == kNoBias));
    const bool converts = (format == kToHalves || format == kToInt8) && (units & kConvolves) == 0;
    if (format != 0 && format != kHalves && !named && !converts)
      return unsupported(str("numbers of format ", format, " on rk3562"));
    if (divides() != (named && divides()))
      return unsupported("a quotient of other numbers on rk3562");
    constexpr uint32_t kI16 = 1;
    const uint32_t inside = named ? kI16 : is_half() ? kHalf : 0;
    if (divides()) {
      set(reg::DPU_DATA_FORMAT__PROC_PRECISION, kHalf);
      set(reg::DPU_DATA_FORMAT__OUT_PRECISION, kHalf);
    }
    // Bits of the writing unit beyond what plain copies, depthwise results and enlargements set.
    constexpr RegisterField kRest{"REST", 0x4050, 11, 31};
    constexpr uint16_t kOther = 0x5078;
    constexpr uint32_t kCopyWithTable = 0x10;
    if (raw(kRest) != 0) return unsupported("regrouped writing on rk3562");
    for (const uint16_t offset : {here::kCopyMode, kOther}) {
      const bool looks_up = offset == here::kCopyMode && raw(here::kElements) == kLooksUp;
      if (raw(offset) != 0 && !(looks_up && raw(offset) == kCopyWithTable))
        return unsupported(str("register ", offset, " on rk3562"));
    }
    const uint32_t channels = raw(here::kChannels);
    set(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL, channels);
    set(reg::DPU_DATA_CUBE_CHANNEL__CHANNEL, raw(here::kReaderChannels));
    set(reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA, raw(here::kReaderChannels));
    constexpr uint32_t kInt32 = 4;
    const uint32_t numbers = raw(here::kReaderNumbers);
    if ((units & kReads) != 0 &&
        ((numbers != inside && numbers != kInt32) || raw(here::kReaderInside) != inside))
      return unsupported(str("a source of precision ", numbers, " on rk3562"));
    set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION, divides() ? kHalf : numbers);
    if ((units & kConvolves) == 0)
      set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE, raw(here::kStreams));
    RK_TRY(norm());
    return elements((units & kConvolves) != 0);
  }

  RegisterFile take() && { return std::move(out_); }

 private:
  static constexpr uint32_t kAddition = 2, kShiftBits = 0x3f00, kNoBias = 0x53,
                            kLooksUp = 0x1004140,
                            kNothing = 0x10041c1;  // of the element-wise stage

  void shifts() {
    set(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE, raw(here::kBiasShift));
    set(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG, raw(here::kOffsetShift));
  }

  // Bias, offset and multiplier of each channel.
  Status constants(bool is_depthwise) {
    // Without offsets of weights: depthwise, and float16.
    constexpr uint32_t kDense = 0x120080, kPlain = 0x100092;
    if ((raw(here::kBias) & ~kShiftBits) != (is_depthwise || is_half() ? kPlain : kDense))
      return unsupported(str("bias stage ", raw(here::kBias), " on rk3562"));
    set(reg::DPU_BS_CFG__BS_RELU_BYPASS, 1);
    set(reg::DPU_BS_CFG__BS_ALU_SRC, 1);
    set(reg::DPU_BS_CFG__BS_ALU_ALGO, kAddition);
    const bool multiplies = raw(here::kFactorOff) == 0;
    if (multiplies && raw(here::kFactorSource) == 0)
      return unsupported("one factor for all channels of a convolution");
    set(reg::DPU_BS_CFG__BS_MUL_BYPASS, multiplies ? 0 : 1);
    set(reg::DPU_BS_MUL_CFG__BS_MUL_SRC, 1);
    // One offset for all weights, where there are no constants of each channel but the bias.
    set(reg::DPU_BS_OW_CFG__OD_BYPASS, is_depthwise || multiplies || is_half() ? 1 : 0);
    set(reg::DPU_BS_OW_OP__OW_OP, raw(here::kOffsetValue));
    shifts();
    return ok_status();
  }

  Status norm() {
    constexpr uint32_t kOff = 0x13, kLimits = 0x12, kSlope = 0x22, kIndex = 0x20000, kSum = 0x20010;
    constexpr uint32_t kLeast = 0x80000000, kMost = 0x7fffffff;
    const uint32_t mode = raw(here::kNorm);
    set(reg::DPU_BN_CFG__BN_RELU_BYPASS, 1);
    if (mode == kOff) {
      set(reg::DPU_BN_CFG__BN_BYPASS, 1);
      return ok_status();
    }
    if (mode == kLimits) {
      const uint32_t low = raw(here::kNormLow), high = raw(here::kNormHigh);
      set(reg::DPU_BN_CFG__BN_ALU_BYPASS, 1);
      set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 1);
      if (low == kLeast && high == kMost) return ok_status();
      if (low != 0) return unsupported("a lower limit on rk3562");
      set(reg::DPU_BN_CFG__BN_RELU_BYPASS, 0);
      set(reg::DPU_BN_CFG__BN_RELUX_EN, high != kMost ? 1 : 0);
      set(reg::DPU_BN_RELUX_CMP_VALUE, high);
      return ok_status();
    }
    if (mode == kSum) {
      set(reg::DPU_BN_CFG__BN_MUL_BYPASS, 1);
      set(reg::DPU_BN_CFG__BN_ALU_ALGO, kAddition);
      set(reg::DPU_BN_ALU_CFG, raw(here::kNormAddend));
      return ok_status();
    }
    if (mode != kSlope && mode != kIndex)
      return unsupported(str("batch-norm stage ", mode, " on rk3562"));
    const uint32_t factor = raw(here::kNormFactor);
    set(reg::DPU_BN_MUL_CFG, factor);
    if (reg::DPU_BN_MUL_CFG__BN_MUL_SRC.get(factor) != 0)
      return unsupported("a slope of each channel on rk3562");
    if (mode == kSlope) {
      set(reg::DPU_BN_CFG__BN_ALU_BYPASS, 1);
      set(reg::DPU_BN_CFG__BN_MUL_PRELU, 1);
      return ok_status();
    }
    // Note: the number is added before the product here.
    set(reg::DPU_BN_CFG__BN_ALU_ALGO, kAddition);
    set(reg::DPU_BN_ALU_CFG, raw(here::kNormAddend));
    return ok_status();
  }

  // What becomes of two features, by the operation; other stages of these bits are refused.
  std::optional<uint32_t> operation() const {
    constexpr uint32_t kOfInt8 = 0x8002c0c0, kOfHalves = 0xc0c0, kQuotient = 3, kDifference = 4;
    const uint32_t mode = raw(here::kElements);
    if (divides()) return kQuotient;
    if (!is_half()) return mode == kOfInt8 ? std::optional(kAddition) : std::nullopt;
    for (const uint32_t algorithm : {uint32_t{0}, kAddition, kDifference})
      if (mode == (kOfHalves | algorithm << 16)) return algorithm;
    return std::nullopt;
  }

  Status elements(bool convolves) {
    const uint32_t mode = raw(here::kElements);
    const std::optional<uint32_t> algorithm = operation();
    if (mode != kNothing && mode != kLooksUp && !algorithm)
      return unsupported(str("element-wise stage ", mode, " on rk3562"));
    set(reg::DPU_EW_CFG__EW_BYPASS, mode == kNothing ? 1 : 0);
    set(reg::DPU_EW_CFG__EW_LUT_BYPASS, mode == kLooksUp ? 0 : 1);
    set(reg::DPU_EW_CFG__EW_OP_BYPASS, algorithm ? 0 : 1);
    set(reg::DPU_EW_CFG__EW_RELU_BYPASS, 1);
    if (mode == kNothing) return ok_status();
    constexpr uint32_t kLeast = 0x80000000;
    const uint32_t low = raw(here::kElementsLow);
    if (low != 0 && low != kLeast) return unsupported("a lower limit on rk3562");
    set(reg::DPU_EW_CFG__EW_RELU_BYPASS, low == 0 ? 0 : 1);
    if (mode == kLooksUp) return ok_status();
    set(reg::DPU_EW_CFG__EW_OP_SRC, 1);
    set(reg::DPU_EW_CFG__EW_ALU_ALGO, *algorithm);
    set(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS, divides() ? 1 : 0);
    const auto offset = static_cast<int16_t>(
        out(RegisterField{"EW_CVT_OFFSET", reg::DPU_EW_CVT_OFFSET_VALUE, 0, 15}));
    set(reg::DPU_EW_CVT_OFFSET_VALUE, static_cast<uint32_t>(int32_t{offset}));
    // One stream brings the operand of a convolution, too.
    if (convolves) set(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE, 0);
    return ok_status();
  }

  const RegisterFile& raw_;
  RegisterFile out_;
};

RegisterFile pooling(const RegisterFile& raw) {
  RegisterFile out = raw;
  constexpr uint32_t kInt8 = 0x40, kHalves = 0x42;
  const uint32_t format = raw.get(reg::PPU_RDMA_RDMA_DATA_FORMAT);
  const uint32_t numbers = format == kInt8 ? 1 : format == kHalves ? kHalf : 0;
  out.write({0, numbers, reg::PPU_RDMA_RDMA_DATA_FORMAT});
  return out;
}

}  // namespace

Result<RegisterFile> rk3562_as_rk3588(const RegisterFile& raw, uint32_t units) {
  if ((units & kPools) != 0) return pooling(raw);
  Positions p(raw);
  RK_TRY((units & kConvolves) != 0 ? p.convolution(units) : p.dpu());
  RK_TRY(p.stages(units));
  return std::move(p).take();
}

}  // namespace rk::target
