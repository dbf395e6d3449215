// SPDX-License-Identifier: Apache-2.0
// Lists of RV1103 and RV1106, brought into the form of RK3562. What no known list of these chips
// has is refused.
#include "target/rk3562_registers.h"
#include "target/rv1106_registers.h"

namespace rk::target {
namespace {

namespace here = rv1106_reg;
namespace there = rk3562_reg;

constexpr uint32_t kConvolves = 1, kReads = 0x10, kPools = 0x20;  // bits of units

class Form {
 public:
  explicit Form(const RegisterFile& raw) : raw_(raw) {
    for (const FieldOfRv1106& field : rv1106_fields()) set(field.rk3562, raw.get(field.rv1106));
    for (const AddressOfRv1106& address : rv1106_addresses())
      set(address.rk3562, raw.get(address.rv1106));
  }

  Status convolution() {
    constexpr uint32_t kPaired = 7, kPlain = 3, kKnown = 0x2000f007;
    const uint32_t all = raw(uint16_t{0x100c}), mode = raw(here::kMode);
    const uint32_t picture = raw(here::kPictureOf);
    const bool is_picture = picture != 0;
    if ((all & ~kKnown) != 0 || (mode != 0 && mode != kPaired && mode != kPlain) ||
        (is_picture && mode != 0))
      return unsupported(str("convolution mode ", all, " on rv1106"));
    set(there::kConvMode, is_picture ? 2 : mode == kPaired ? 5 : mode == kPlain ? 1 : 0);
    set(RegisterField{"ARGB_IN", 0x100c, 12, 15}, picture);
    set(there::kNotTransposed, raw(here::kCells) == 0 ? 1 : 0);
    set(there::kSingleLines, raw(here::kSingleLines));
    const uint32_t channels = raw(here::kChannelsLess) + 1;
    set(there::kInChannels, channels);
    const uint32_t kernel_bytes = raw(here::kKernelBytes);
    set(there::kKernelBytes, kernel_bytes);
    // Rows in the buffer.
    set(there::kRowEntries, raw(here::kRowLength));
    set(there::kRingEntries, raw(here::kRingEntries));
    set(there::kRowWidth, raw(here::kRowWidth));
    set(there::kRowLength, raw(here::kRowLength));
    set(there::kFetchedWidth, raw(here::kFetchedWidth));
    set(there::kFetchedRows,
        is_picture ? raw(RegisterField{"HEIGHT", 0x1020, 0, 15}) : raw(here::kFetchedRows));
    set(there::kLine, raw(here::kLine));
    set(there::kPlane, raw(here::kPlane));
    const auto border = static_cast<int16_t>(raw(here::kBorder));
    set(there::kBorder, static_cast<uint32_t>(int32_t{border}));
    if (!is_picture) {
      constexpr uint32_t kAsStored = 9, kAsStoredThere = 0xb;
      if (raw(here::kConversion) != kAsStored)
        return unsupported("conversion of a feature on rv1106");
      set(there::kConversion, kAsStoredThere);
    }
    return ok_status();
  }

  Status stages(uint32_t units) {
    constexpr uint32_t kDense = 0x180, kDenseThere = 0x80, kBelow = 0x1ff;
    constexpr uint32_t kAbove = 0xffff8000;
    const uint32_t bias = raw(here::kBias);
    const uint32_t operation = (bias & kBelow) == kDense ? kDenseThere : bias & kBelow;
    constexpr uint32_t kMostOperation = 0xff;
    if (operation > kMostOperation) return unsupported(str("bias stage ", bias, " on rv1106"));
    set(RegisterField{"BIAS", there::kBias, 0, 7}, operation);
    set(RegisterField{"BIAS", there::kBias, 15, 31}, (bias & kAbove) >> 15);
    // What RK3562 has elsewhere.
    if (raw(here::kOutputNotchAgain) != raw(here::kOutputNotch))
      return unsupported("two gaps between written rows on rv1106");
    set(RegisterField{"OUTPUT", 0x4030, 16, 31}, raw(here::kPaddedOutput));
    const bool reads = (units & kReads) != 0;
    if (reads && raw(RegisterField{"MODE", 0x5044, 1, 2}) == 3)
      set(RegisterField{"MODE", 0x5044, 1, 2}, 1);
    constexpr uint32_t kGroupBits = 3, kGroupShift = 23, kKnownFormat = 0xe000fc07;
    const uint32_t format = raw(uint16_t{0x4010}) & ~(kGroupBits << kGroupShift);
    if ((format & ~kKnownFormat) != 0)
      return unsupported(str("numbers of format ", format, " on rv1106"));
    return ok_status();
  }

  RegisterFile take() && { return std::move(out_); }

 private:
  uint32_t raw(const RegisterField& field) const { return raw_.get(field); }
  uint32_t raw(uint16_t offset) const { return raw_.get(offset); }
  void set(uint16_t offset, uint32_t value) { out_.write({0, value, offset}); }
  void set(const RegisterField& field, uint32_t value) {
    const auto mask = static_cast<uint32_t>((uint64_t{1} << (field.high - field.low + 1)) - 1);
    set(field.offset, (out_.get(field.offset) & ~(mask << field.low)) | (value & mask)
                                                                            << field.low);
  }

  const RegisterFile& raw_;
  RegisterFile out_;
};

}  // namespace

Result<RegisterFile> rv1106_as_rk3562(const RegisterFile& raw, uint32_t units) {
  if ((units & kPools) != 0) return raw;
  Form form(raw);
  if ((units & kConvolves) != 0) RK_TRY(form.convolution());
  RK_TRY(form.stages(units));
  return std::move(form).take();
}

}  // namespace rk::target
