// SPDX-License-Identifier: Apache-2.0
// Lists of RK3576 and RV1126B, brought into the form of RK3562. What no known list of the chip has
// is refused.
#include <algorithm>
#include <cstring>

#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"

namespace rk::target {
namespace {

namespace here = rk3576_reg;
namespace there = rk3562_reg;

constexpr uint32_t kConvolves = 1, kReads = 0x10, kPools = 0x20;  // bits of units

class Form {
 public:
  Form(const RegisterFile& raw, const StageNumbers& bias, const StageNumbers& norm)
      : raw_(raw), out_(raw), bias_(bias), norm_(norm) {}

  Status convolution() {
    constexpr uint32_t kKnown = 0x2000f007, kHalves = 0x200120;
    const uint32_t mode = raw(uint16_t{0x100c}), picture = raw(here::kPictureOf);
    const bool is_picture = raw(there::kPicture) != 0, is_depthwise = raw(here::kMode) != 0;
    if (((mode & ~kKnown) != 0 && (mode & ~kKnown) != kHalves) || is_picture != (picture != 0) ||
        (is_picture && is_depthwise))
      return unsupported(str("convolution mode ", mode, " on rk3576"));
    const bool alone = raw(here::kConstants) == kAlone || (mode & kHalves) != 0;
    const bool is_transposed = raw(here::kCellsX) != 0 || raw(here::kCellsY) != 0;
    set(there::kConvMode, is_picture ? 2 : !is_depthwise ? 0 : alone ? 1 : 5);
    set(there::kNotTransposed, is_transposed ? 0 : 1);
    set(here::kTwoCores, 0);
    set(there::kKernels, raw(here::kKernels) + 1);
    constexpr RegisterField kHeight{"HEIGHT", 0x1024, 16, 20}, kWidth{"WIDTH", 0x1024, 24, 28};
    constexpr uint32_t kMostKernel = 30;
    const uint32_t kernel_h = raw(here::kKernelHeight), kernel_w = raw(here::kKernelWidth);
    if (kernel_h > kMostKernel || kernel_w > kMostKernel)
      return unsupported("a kernel of more than 31 rows on rk3576");
    set(0x1024,
        (kernel_w + 1) << kWidth.low | (kernel_h + 1) << kHeight.low | (raw(here::kKernels) + 1));
    constexpr uint32_t kChannelsLess = 7;
    set(there::kInChannels, is_picture ? picture - kChannelsLess : raw(here::kInChannels) + 1);
    set(0x102c, raw(uint16_t{0x102c}) + kOneOfEach);
    set(0x1030, raw(here::kOutputWidth) + 1);
    set(0x1034, raw(uint16_t{0x1034}) + 1);
    set(0x1078, raw(uint16_t{0x1078}) + kOneOfEach);
    return ring();
  }

  Status stages(uint32_t units) {
    constexpr uint32_t kArray = 0x40000004, kDepthwise = 0x4000000c, kCopy = 5, kBit30 = 0x40000000;
    const uint32_t mode = raw(uint16_t{0x400c});
    if (mode != kArray && mode != kDepthwise && mode != kCopy)
      return unsupported(str("writing mode ", mode, " on rk3576"));
    set(0x400c, mode & ~kBit30);
    constexpr uint32_t kReaders[] = {0x9,     0x40000010, 0x40000012, 0x40000018,
                                     0x10049, 0x40010050, 0x40010052, 0x40010058};
    const bool reads = (units & kReads) != 0;
    if (reads && std::ranges::find(kReaders, raw(there::kReader)) == std::end(kReaders))
      return unsupported(str("reading mode ", raw(there::kReader), " on rk3576"));
    const uint32_t numbers = raw(there::kReaderNumbers), inside = raw(there::kReaderInside);
    set(there::kReader, uint32_t{0});
    set(there::kReaderNumbers, numbers);
    set(there::kReaderInside, inside);
    RK_TRY(groups());
    constexpr uint32_t kHalves = 0x40000002;
    const uint32_t format = raw(there::kDpuFormat);
    if (format != 0 && format != kHalves)
      return unsupported(str("numbers of format ", format, " on rk3576"));
    constexpr RegisterField kNormShiftBelow{"BN_SHIFT_BELOW", there::kDpuFormat, 10, 15};
    if (format == 0) set(kNormShiftBelow, norm_.shift_below);
    // Constants of channels, and numbers of the stage.
    set(0x501c, uint32_t{0});
    set(there::kConstants, raw(here::kConstants));
    set(there::kBiasAddend, static_cast<uint32_t>(bias_.addend));
    set(there::kBiasShift, bias_.shift);
    set(there::kOffset, uint32_t{0});
    set(there::kOffsetValue, static_cast<uint16_t>(bias_.offset));
    set(there::kOffsetShift, bias_.shift_below);
    set(0x4044, raw(there::kOffsetSource));
    set(there::kBiasFactor, static_cast<uint16_t>(bias_.factor));
    if ((units & kConvolves) != 0 && reads && raw(here::kConstants) == 0)
      return unsupported("a convolution without bias on rk3576");
    RK_TRY(norm());
    tables();
    return ok_status();
  }

  RegisterFile take() && { return std::move(out_); }

 private:
  static constexpr uint32_t kAlone = 1, kOneOfEach = 0x10001;

  uint32_t raw(const RegisterField& field) const { return raw_.get(field); }
  uint32_t raw(uint16_t offset) const { return raw_.get(offset); }
  void set(uint16_t offset, uint32_t value) { out_.write({0, value, offset}); }
  void set(const RegisterField& field, uint32_t value) {
    const auto mask = static_cast<uint32_t>((uint64_t{1} << (field.high - field.low + 1)) - 1);
    set(field.offset, (out_.get(field.offset) & ~(mask << field.low)) | (value & mask)
                                                                            << field.low);
  }

  // Entries from the start of the core's ring.
  Status ring() {
    const uint32_t end = raw(here::kDataEnd), banks = raw(here::kDataBanks);
    const uint32_t ring = raw(there::kRingEntries), first = raw(there::kFirstEntry);
    const uint32_t write = raw(there::kWriteEntry);
    if (banks > end) return invalid_model("a ring of rows that begins before the buffer");
    const uint32_t start = (end - banks) * here::kBankEntries;
    if (ring < start || first < start || write < start)
      return invalid_model("rows of a list lie outside their ring");
    set(there::kRingEntries, ring - start);
    set(there::kFirstEntry, first - start);
    set(there::kWriteEntry, write - start);
    return ok_status();
  }

  // Planes that leave together, and from the end of the first of them to the next ones.
  Status groups() {
    constexpr RegisterField kPlanes[] = {
        {"SIZE_E_0", 0x4050, 0, 3}, {"SIZE_E_1", 0x4050, 4, 7}, {"SIZE_E_2", 0x4050, 8, 11}};
    constexpr uint32_t kKnown = 0x8003ffff, kMostPlanes = 7;
    if ((raw(uint16_t{0x4050}) & ~kKnown) != 0) return unsupported("regrouped writing on rk3576");
    uint32_t sizes = raw(here::kFactorSource) | raw(here::kFactorOff) << 1;
    int low = 2;
    for (const RegisterField& planes : kPlanes) {
      if (raw(planes) > kMostPlanes) return unsupported("regrouped writing on rk3576");
      sizes |= raw(planes) << low;
      low += 3;
    }
    set(0x4050, sizes);
    const uint32_t width = raw(there::kOutputWidth) + 1, height = raw(there::kOutputHeight) + 1;
    if (width != raw(uint16_t{0x4020}) + 1 || height != raw(uint16_t{0x4024}) + 1)
      return unsupported("scattered writing on rk3576");
    set(0x40b8, raw(uint16_t{0x40b8}) + width * height);
    return ok_status();
  }

  Status norm() {
    struct Mode {
      uint32_t rk3576, rk3562;
    };
    constexpr Mode kModes[] = {{here::kNormOff, 0x13},
                               {here::kNormLimits, 0x12},
                               {here::kNormSlope, 0x22},
                               {here::kNormIndex, 0x20000}};
    const auto* const mode = std::ranges::find(kModes, raw(there::kNorm), &Mode::rk3576);
    if (mode == std::end(kModes))
      return unsupported(str("batch-norm stage ", raw(there::kNorm), " on rk3576"));
    set(there::kNorm, mode->rk3562);
    set(there::kNormAddend, static_cast<uint32_t>(norm_.addend));
    set(there::kNormFactor,
        uint32_t{static_cast<uint16_t>(norm_.factor)} << 16 | uint32_t{norm_.shift} << 8);
    return ok_status();
  }

  // Both tables meet at zero; a slope below the first and above the last entry.
  void tables() {
    constexpr RegisterField kBelow{"LE_SLOPE_SCALE", 0x4150, 16, 31};
    constexpr RegisterField kBelowShift{"LE_SLOPE_SHIFT", 0x4160, 8, 15};
    constexpr RegisterField kAbove{"LO_SLOPE_SCALE", 0x4170, 16, 31};
    constexpr RegisterField kAboveShift{"LO_SLOPE_SHIFT", 0x4184, 8, 15};
    set(0x4114, uint32_t{0});
    set(0x4118, uint32_t{0});
    set(0x411c, raw(uint16_t{0x4140}));
    set(0x4120, raw(kBelow));
    set(0x4124, raw(kBelowShift));
    set(0x4128, raw(kAbove) << 16);
    set(0x412c, raw(kAboveShift) << 5);
  }

  const RegisterFile& raw_;
  RegisterFile out_;
  const StageNumbers bias_, norm_;
};

template <typename T>
void copy_row(std::vector<uint8_t>& rows, T value) {
  const size_t at = rows.size();
  rows.resize(at + kStageRowBytes);
  std::memcpy(rows.data() + at, &value, sizeof value);
}

}  // namespace

size_t stage_bytes(uint32_t use) {
  const size_t rows = ((use & kUseAddend) != 0 ? 2 : 0) + ((use & kUseOffset) != 0 ? 1 : 0) +
                      ((use & kUseFactor) != 0 ? 1 : 0) + ((use & kUseShifts) != 0 ? 1 : 0);
  return rows * kStageRowBytes;
}

StageNumbers read_stage(uint32_t use, ByteSpan rows) {
  StageNumbers out;
  const uint8_t* at = rows.data();
  if ((use & kUseAddend) != 0) {
    out.addend = load<int32_t>(at);
    at += 2 * kStageRowBytes;  // the same again
  }
  if ((use & kUseOffset) != 0) {
    out.offset = load<int16_t>(at);
    at += kStageRowBytes;
  }
  if ((use & kUseFactor) != 0) {
    out.factor = load<int16_t>(at);
    at += kStageRowBytes;
  }
  if ((use & kUseShifts) != 0) {
    out.shift = at[0];
    out.shift_below = at[1];
  }
  return out;
}

std::vector<uint8_t> write_stage(uint32_t use, const StageNumbers& numbers) {
  std::vector<uint8_t> rows;
  if ((use & kUseAddend) != 0) {
    copy_row(rows, numbers.addend);
    copy_row(rows, numbers.addend);
  }
  if ((use & kUseOffset) != 0) copy_row(rows, int32_t{numbers.offset});
  if ((use & kUseFactor) != 0) copy_row(rows, numbers.factor);
  if ((use & kUseShifts) != 0)
    copy_row(rows, static_cast<uint16_t>(numbers.shift | numbers.shift_below << 8));
  return rows;
}

Result<RegisterFile> rk3576_as_rk3562(const RegisterFile& raw, uint32_t units,
                                      const StageNumbers& bias, const StageNumbers& norm) {
  if ((units & kPools) != 0) return raw;
  Form form(raw, bias, norm);
  if ((units & kConvolves) != 0) RK_TRY(form.convolution());
  RK_TRY(form.stages(units));
  return std::move(form).take();
}

}  // namespace rk::target
