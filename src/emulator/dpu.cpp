// SPDX-License-Identifier: Apache-2.0
// DPU and DPU_RDMA. Stages in order: bias (BS), batch-norm (BN, used for activations), element-wise (EW), output
// conversion, write. docs/facts/container.md, sections 3.4, 4.2, 4.3.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "emulator/units.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterFile;

constexpr uint32_t kAluMax = 0, kAluMin = 1, kAluAdd = 2, kAluDivide = 3, kAluSubtract = 4;
constexpr int64_t kMaxShift = 62;

int64_t scaled(const Unit& unit, int64_t value, int64_t scale, int64_t shift) {
  return scale_round(value, scale, static_cast<int>(shift), unit.ties);
}

float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }

// A factor in the upper half of a register.
double factor_of(uint32_t operand, Precision precision) {
  const auto bits = static_cast<uint16_t>(operand);
  if (!is_float(precision)) return static_cast<int16_t>(bits);
  return precision == Precision::kBf16 ? float_of(uint32_t{bits} << 16) : half_to_float(bits);
}

// A stage that adds a number, multiplies with another and limits the result: BS and BN, which differ in the order.
struct Stage {
  bool adds = false, multiplies = false, leaky = false, relu = false, clips = false;
  bool multiplies_first = false;
  int64_t shift = 0, shift_below = 0;  // integers: of the product, at or above and below zero
  double limit = 0;
  std::vector<double> addend, factor;  // per channel
};

Result<Stage> read_bias_stage(const Unit& unit, const ChannelConstants& constants,
                              Precision precision) {
  const RegisterFile& r = unit.registers;
  Stage s;
  s.adds = !r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS);
  s.multiplies = !r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS);
  s.leaky = r.is_on(reg::DPU_BS_CFG__BS_MUL_PRELU);
  if (s.adds && r.get(reg::DPU_BS_CFG__BS_ALU_ALGO) != kAluAdd)
    return unsupported("bias operation");
  // Products below zero have a shift of their own: the leaky activations need it.
  s.shift = r.get(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE);
  s.shift_below = r.get(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG);
  s.relu = !r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS);
  s.clips = r.is_on(reg::DPU_BS_CFG__BS_RELUX_EN);
  s.limit = is_float(precision) ? double{float_of(r.get(reg::DPU_BS_RELUX_CMP_VALUE))}
                                : r.get_signed(reg::DPU_BS_RELUX_CMP_VALUE);
  const size_t channels = constants.bias.size();
  const double addend = is_float(precision) ? double{float_of(r.get(reg::DPU_BS_ALU_CFG))}
                                            : r.get_signed(reg::DPU_BS_ALU_CFG);
  // Note: the vendor's converter writes a missing lower limit of Clip like this; what a 32-bit
  // adder makes of it is not known.
  if (s.adds && (is_float(precision) ? std::abs(addend) > 1e38 : addend == INT32_MIN))
    return unsupported("an addend that 32 bits cannot hold");
  s.addend =
      r.is_on(reg::DPU_BS_CFG__BS_ALU_SRC) ? constants.bias : std::vector<double>(channels, addend);
  s.factor = r.is_on(reg::DPU_BS_MUL_CFG__BS_MUL_SRC)
                 ? constants.multiplier
                 : std::vector<double>(
                       channels, factor_of(r.get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND), precision));
  return s;
}

// Brings values into the index unit of a lookup table, or scales those below zero.
Result<Stage> read_norm_stage(const Unit& unit, int64_t channels, Precision precision) {
  const RegisterFile& r = unit.registers;
  Stage s;
  s.multiplies_first = true;
  s.adds = !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS);
  s.multiplies = !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS);
  s.leaky = r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU);
  if (s.adds && r.get(reg::DPU_BN_CFG__BN_ALU_ALGO) != kAluAdd)
    return unsupported("a batch-norm operation other than addition");
  if (s.leaky && s.adds) return unsupported("PRelu and addition in the batch-norm stage");
  s.shift = r.get(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE);
  s.shift_below = r.get(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG);
  s.relu = !r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS);
  s.clips = r.is_on(reg::DPU_BN_CFG__BN_RELUX_EN);
  s.limit = is_float(precision) ? double{float_of(r.get(reg::DPU_BN_RELUX_CMP_VALUE))}
                                : r.get_signed(reg::DPU_BN_RELUX_CMP_VALUE);
  RK_ASSIGN(const ChannelConstants constants, read_norm_constants(unit, channels, precision));
  double addend = is_float(precision) ? double{float_of(r.get(reg::DPU_BN_ALU_CFG))}
                                      : r.get_signed(reg::DPU_BN_ALU_CFG);
  const auto count = static_cast<size_t>(channels);
  // RK3562 adds before it multiplies.
  if (unit.chip.is_rk3562 && s.adds && s.multiplies)
    addend *= factor_of(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND), precision);
  s.addend =
      r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC) ? constants.bias : std::vector<double>(count, addend);
  s.factor = r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC)
                 ? constants.multiplier
                 : std::vector<double>(
                       count, factor_of(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND), precision));
  return s;
}

int64_t apply_integer(const Unit& unit, const Stage& s, int64_t v, int64_t addend, int64_t factor) {
  if (s.multiplies_first) {
    if (!s.adds && !s.multiplies) return v;
    const bool below = v < 0;
    if (s.multiplies && (!s.leaky || below)) v *= factor;
    if (s.adds) v += addend;
    return scaled(unit, v, 1, (s.leaky ? below : v < 0) ? s.shift_below : s.shift);
  }
  if (s.adds) v += addend;
  // The vendor's compiler counts on the shift where the product is off (RK3588, RK3566: tables for Elu in layers of one
  // multiplier).
  if (!s.multiplies) {
    const Chip& chip = unit.chip;
    return chip.is_rk3562 || chip.is_rk3576 || chip.is_rv1106
               ? v
               : scaled(unit, v, 1, v < 0 ? s.shift_below : s.shift);
  }
  if (s.leaky && v >= 0) return v;
  v *= factor;
  return scaled(unit, v, 1, v < 0 ? s.shift_below : s.shift);
}

float apply_float(const Stage& s, float v, float addend, float factor) {
  const bool multiplies = s.multiplies && (!s.leaky || v < 0);
  if (s.multiplies_first) {
    if (multiplies) v *= factor;
    return s.adds ? v + addend : v;
  }
  if (s.adds) v += addend;
  return s.multiplies && (!s.leaky || v < 0) ? v * factor : v;
}

Status run_stage(const Unit& unit, const Stage& s, Cube& cube) {
  if (s.shift > kMaxShift || s.shift_below > kMaxShift)
    return invalid_model("a multiplier shift above 62");
  for (int64_t i = 0; i < cube.elements(); ++i) {
    const auto channel = static_cast<size_t>(i / cube.pixels());
    const auto at = static_cast<size_t>(i);
    if (cube.is_float) {
      float& v = cube.floats[at];
      v = apply_float(s, v, static_cast<float>(s.addend[channel]),
                      static_cast<float>(s.factor[channel]));
      if (s.relu) v = std::max(v, 0.0f);
      if (s.relu && s.clips) v = std::min(v, static_cast<float>(s.limit));
    } else {
      int64_t& v = cube.integers[at];
      v = apply_integer(unit, s, v, static_cast<int64_t>(s.addend[channel]),
                        static_cast<int64_t>(s.factor[channel]));
      if (s.relu) v = std::max<int64_t>(v, 0);
      if (s.relu && s.clips) v = std::min(v, static_cast<int64_t>(s.limit));
    }
  }
  return ok_status();
}

// The table in float16 tasks: the same entries and ranges, the position is not rounded.
float look_up_float(const Unit& unit, float index) {
  const RegisterFile& r = unit.registers;
  const auto le_start = static_cast<float>(r.get_signed(reg::DPU_LUT_LE_START));
  const auto lo_start = static_cast<float>(r.get_signed(reg::DPU_LUT_LO_START));
  const auto lo_end = static_cast<float>(r.get_signed(reg::DPU_LUT_LO_END));
  const auto& [le, lo] = unit.tables.entries;
  if (index < le_start) {
    const auto slope =
        static_cast<float>(r.get(reg::DPU_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_UFLOW_SCALE));
    const auto shift = r.get(reg::DPU_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT);
    return le.front() + std::ldexp((index - le_start) * slope, -static_cast<int>(shift));
  }
  if (index > lo_end) {
    const auto slope =
        static_cast<float>(r.get(reg::DPU_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE));
    const auto shift = r.get(reg::DPU_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT);
    return lo.back() + std::ldexp((index - lo_end) * slope, -static_cast<int>(shift));
  }
  if (!(index == index)) return index;
  const bool lower = index < lo_start;
  const auto& table = lower ? le : lo;
  const uint32_t step = r.get(lower ? reg::DPU_LUT_INFO__LUT_LE_INDEX_SELECT
                                    : reg::DPU_LUT_INFO__LUT_LO_INDEX_SELECT);
  const float position = std::ldexp(index - (lower ? le_start : lo_start), -static_cast<int>(step));
  const auto entry = std::min<size_t>(static_cast<size_t>(position), LookupTables::kEntries - 2);
  const float rest = std::min(position - static_cast<float>(entry), 1.0f);
  return table[entry] + static_cast<float>(table[entry + 1] - table[entry]) * rest;
}

template <typename T>
Result<T> combine(uint32_t operation, bool multiplies, T v, T e) {
  if (multiplies) return static_cast<T>(v * e);
  switch (operation) {
    case kAluMax:
      return std::max(v, e);
    case kAluMin:
      return std::min(v, e);
    case kAluAdd:
      return static_cast<T>(v + e);
    case kAluSubtract:
      return static_cast<T>(v - e);
    case kAluDivide:
      if constexpr (std::is_floating_point_v<T>) return v / e;
      [[fallthrough]];
    default:
      return unsupported(str("element-wise operation ", operation));
  }
}

// Integers on their way through the operand's conversion.
struct OperandConversion {
  int64_t offset = 0, scale = 1, shift = 0;
};

Status use_operand(const Unit& unit, Precision inside, Cube& cube) {
  const RegisterFile& r = unit.registers;
  if (!r.is_on(reg::DPU_EW_CFG__EW_OP_SRC)) return unsupported("an operand in a register");
  const uint32_t operation = r.get(reg::DPU_EW_CFG__EW_ALU_ALGO);
  const bool multiplies = r.is_on(reg::DPU_EW_CFG__EW_OP_TYPE);
  if (r.is_on(reg::DPU_EW_CFG__EW_MUL_PRELU)) return unsupported("slopes of each element");
  if (r.is_on(reg::DPU_EW_CFG__EW_BINARY_EN) || r.is_on(reg::DPU_EW_CFG__EW_EQUAL_EN))
    return unsupported("comparison of elements");
  constexpr uint32_t kOneByte = 1, kTwoBytes = 2;
  const uint32_t size = r.get(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE);
  // Halves are of the type in which the DPU computes; the feature beside them may be of the other.
  const Precision precision = size == kOneByte    ? Precision::kI8
                              : size == kTwoBytes ? (cube.is_float ? inside : Precision::kI16)
                              : cube.is_float     ? Precision::kF32
                                                  : Precision::kI32;
  OperandConversion convert;
  if (!r.is_on(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS)) {
    convert = {r.get_signed(reg::DPU_EW_CVT_OFFSET_VALUE),
               static_cast<int16_t>(r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE)),
               r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT)};
    if (convert.shift > kMaxShift) return invalid_model("operand shift above 62");
    if (cube.is_float && (convert.offset != 0 || convert.scale != 1 || convert.shift != 0))
      return unsupported("conversion of a float operand");
  }
  const int64_t truncate = r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_TRUNCATE);
  if (truncate > kMaxShift) return invalid_model("operand truncation above 62");
  RK_ASSIGN(const std::vector<double> operand, read_operand(unit, cube, precision));
  for (size_t i = 0; i < operand.size(); ++i) {
    if (cube.is_float) {
      RK_ASSIGN(cube.floats[i],
                combine(operation, multiplies, cube.floats[i], static_cast<float>(operand[i])));
      continue;
    }
    const int64_t e = scaled(unit, static_cast<int64_t>(operand[i]) + convert.offset, convert.scale,
                             convert.shift);
    RK_ASSIGN(cube.integers[i], combine(operation, multiplies, cube.integers[i], e));
    if (multiplies) cube.integers[i] = scaled(unit, cube.integers[i], 1, truncate);
  }
  return ok_status();
}

Status elementwise_stage(const Unit& unit, Precision inside, Cube& cube) {
  const RegisterFile& r = unit.registers;
  if (r.is_on(reg::DPU_EW_CFG__EW_BYPASS)) return ok_status();
  const bool has_table = !r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS);
  const bool has_operand = !r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS);
  if (has_table && has_operand) return unsupported("a table and an operand");
  if (has_table) {
    for (float& v : cube.floats) v = look_up_float(unit, v);
    for (int64_t& v : cube.integers) {
      RK_ASSIGN(v, look_up(unit, v));
    }
  }
  if (has_operand) RK_TRY(use_operand(unit, inside, cube));
  if (r.is_on(reg::DPU_EW_CFG__EW_RELU_BYPASS)) return ok_status();
  const bool clips = r.is_on(reg::DPU_EW_CFG__EW_RELUX_EN);
  const uint32_t limit = r.get(reg::DPU_EW_RELUX_CMP_VALUE);
  for (float& v : cube.floats) {
    v = std::max(v, 0.0f);
    if (clips) v = std::min(v, float_of(limit));
  }
  for (int64_t& v : cube.integers) {
    v = std::max<int64_t>(v, 0);
    if (clips) v = std::min<int64_t>(v, static_cast<int32_t>(limit));
  }
  return ok_status();
}

double saturate(Precision to, double value) {
  const double top = to == Precision::kI8 ? 127 : to == Precision::kI16 ? 32767 : 2147483647.0;
  return is_float(to) ? value : std::clamp(value, -top - 1, top);
}

// What is written, one number per element.
Result<std::vector<double>> output_stage(const Unit& unit, const Cube& cube, Precision to) {
  const RegisterFile& r = unit.registers;
  const int64_t scale = r.get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE);
  const int64_t shift = r.get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT);
  const int64_t offset = r.get_signed(reg::DPU_OUT_CVT_OFFSET);
  const auto exponent = static_cast<int>(r.get(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP));
  std::vector<double> out(static_cast<size_t>(cube.elements()));
  if (cube.is_float) {
    // Note: the offset of 1 in tasks with a table has no known effect. RK3562 has a factor there.
    const float factor = unit.chip.is_rk3562 ? std::ldexp(static_cast<float>(scale),
                                                          -exponent - static_cast<int>(shift))
                                             : std::ldexp(1.0f, -exponent);
    for (size_t i = 0; i < out.size(); ++i) {
      const float v = cube.floats[i] * factor;
      out[i] = is_float(to) ? double{v} : saturate(to, std::nearbyint(v));
    }
    return out;
  }
  if (exponent != 0) return unsupported("output exponent");
  if (shift > kMaxShift) return invalid_model("output shift above 62");
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t v = scaled(unit, cube.integers[i], scale, shift) + offset;
    out[i] = saturate(to, static_cast<double>(v));
  }
  return out;
}

// Where pixel (y, x) of channel block `block` is written. A write cube with as many pixels as the data but another width
// breaks their sequence into other rows. One with fewer scatters them: x steps over NOTCH pixels and rows are SURF_ADD
// apart (the phases of a resize).
struct WritePlan {
  uint64_t base = 0, block_bytes = 0, group_bytes = 0, row_bytes = 0, pixel_bytes = 0;
  int64_t group = 1;                  // blocks that leave the unit together
  int64_t row_pixels = 0, width = 0;  // of the write cube and of the data

  uint64_t place(int64_t block, int64_t y, int64_t x) const {
    const int64_t pixel = y * width + x;
    return base + static_cast<uint64_t>(block / group) * group_bytes +
           static_cast<uint64_t>(block % group) * block_bytes +
           static_cast<uint64_t>(pixel / row_pixels) * row_bytes +
           static_cast<uint64_t>(pixel % row_pixels) * pixel_bytes;
  }
};

WritePlan write_plan(const Unit& unit, const Cube& cube) {
  const RegisterFile& r = unit.registers;
  const auto atom = static_cast<uint64_t>(unit.chip.atom_bytes);
  WritePlan plan;
  plan.pixel_bytes = atom;
  plan.base = r.get(reg::DPU_DST_BASE_ADDR);
  plan.block_bytes = uint64_t{r.get(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE)} * atom;
  const uint64_t notch = r.get(reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0);
  const int64_t width = int64_t{r.get(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA)} + 1;
  const int64_t height = int64_t{r.get(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA)} + 1;
  plan.width = plan.row_pixels = cube.width;
  if (width * height == cube.pixels()) {
    plan.row_pixels = width;
    plan.row_bytes = (static_cast<uint64_t>(width) + notch) * atom;
    plan.group = int64_t{r.get(reg::DPU_BS_OW_CFG__SIZE_E_0)} + 1;
    plan.group_bytes = uint64_t{r.get(reg::DPU_SURFACE_ADD__SURF_ADD)} * atom;
  } else {
    plan.group_bytes = plan.block_bytes;
    plan.pixel_bytes = (1 + notch) * atom;
    plan.row_bytes = uint64_t{r.get(reg::DPU_SURFACE_ADD__SURF_ADD)} * atom;
  }
  return plan;
}

// The largest channel of every pixel, the pixels one after the other.
Status write_largest(const Unit& unit, const Cube& cube, Precision to) {
  RK_ASSIGN(const std::vector<double> values, output_stage(unit, cube, to));
  const auto pixels = static_cast<size_t>(cube.pixels());
  const auto bytes = static_cast<size_t>(element_bytes(to));
  RK_ASSIGN(const std::span<uint8_t> out,
            unit.memory.at(unit.registers.get(reg::DPU_DST_BASE_ADDR), pixels * bytes));
  for (size_t pixel = 0; pixel < pixels; ++pixel) {
    double largest = values[pixel];
    for (size_t at = pixel; at < values.size(); at += pixels)
      largest = std::max(largest, values[at]);
    store_element(to, largest, out.data() + pixel * bytes);
  }
  return ok_status();
}

Status write_cube(const Unit& unit, const Cube& cube, Precision to) {
  RK_ASSIGN(const std::vector<double> values, output_stage(unit, cube, to));
  const WritePlan plan = write_plan(unit, cube);
  const int64_t bytes = element_bytes(to), lanes = unit.chip.atom_bytes / bytes;
  // Lanes beyond the real channels have a number of their own.
  const uint32_t pend = unit.registers.get(reg::DPU_OFFSET_PEND__OFFSET_PEND);
  const int64_t real = std::min<int64_t>(
      cube.channels, unit.registers.get(reg::DPU_DATA_CUBE_CHANNEL__ORIG_CHANNEL) + 1);
  for (int64_t c0 = 0; c0 < cube.channels; c0 += lanes) {
    for (int64_t y = 0; y < cube.height; ++y) {
      for (int64_t x = 0; x < cube.width; ++x) {
        const uint64_t at = plan.place(c0 / lanes, y, x);
        RK_ASSIGN(
            const std::span<uint8_t> atom,
            unit.memory.at(static_cast<uint32_t>(at), static_cast<uint64_t>(unit.chip.atom_bytes)));
        for (int64_t lane = 0; lane < lanes; ++lane)
          std::memcpy(atom.data() + lane * bytes, &pend, static_cast<size_t>(bytes));
        for (int64_t c = c0; c < std::min(c0 + lanes, real); ++c) {
          const auto from = static_cast<size_t>((c * cube.height + y) * cube.width + x);
          store_element(to, values[from], atom.data() + (c - c0) * bytes);
        }
      }
    }
  }
  return ok_status();
}

}  // namespace

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

Status process_and_write(const Unit& unit, Cube cube) {
  const RegisterFile& r = unit.registers;
  RK_ASSIGN(const Precision precision, to_precision(r.get(reg::DPU_DATA_FORMAT__PROC_PRECISION)));
  RK_ASSIGN(Precision to, to_precision(r.get(reg::DPU_DATA_FORMAT__OUT_PRECISION)));
  // Divisions are declared so: halves under the name of 16-bit integers, on both sides.
  if (is_float(precision) && to == Precision::kI16) to = precision;
  constexpr uint32_t kLargest = 7;  // of MINMAX_CTL
  const uint32_t minmax = r.get(reg::DPU_DATA_CUBE_HEIGHT__MINMAX_CTL);
  const bool packed = r.is_on(reg::DPU_FEATURE_MODE_CFG__NONALIGN);
  if (packed != (minmax == kLargest) || (minmax != 0 && minmax != kLargest))
    return unsupported(str("packed writing with MINMAX_CTL ", minmax));
  if (r.get(reg::DPU_FEATURE_MODE_CFG__RGP_TYPE) != 0) return unsupported("regrouped writing");
  if (!r.is_on(reg::DPU_BS_CFG__BS_BYPASS)) {
    RK_ASSIGN(const ChannelConstants constants,
              read_channel_constants(unit, cube.channels, precision));
    RK_ASSIGN(const Stage stage, read_bias_stage(unit, constants, precision));
    RK_TRY(run_stage(unit, stage, cube));
  }
  if (!r.is_on(reg::DPU_BN_CFG__BN_BYPASS)) {
    RK_ASSIGN(const Stage stage, read_norm_stage(unit, cube.channels, precision));
    RK_TRY(run_stage(unit, stage, cube));
  }
  RK_TRY(elementwise_stage(unit, precision, cube));
  return packed ? write_largest(unit, cube, to) : write_cube(unit, cube, to);
}

}  // namespace rk::emulator
