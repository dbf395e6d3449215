// SPDX-License-Identifier: Apache-2.0
#include "format/vendor/product_lists.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/half.h"
#include "format/vendor/lookup.h"
#include "target/rk3562_registers.h"

namespace rk::format {
namespace {

using program::InputStage;
using target::RegisterFile;
namespace reg = target::reg;

constexpr uint32_t kInt8 = 0, kHalf = 2;  // precisions
constexpr uint32_t kAluAdd = 2, kAluDivide = 3, kAluSubtract = 4;

float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
float half_of(uint32_t bits) { return half_to_float(static_cast<uint16_t>(bits)); }
float as_half(float value) { return half_to_float(float_to_half(value)); }

InputStage read_conversion(const RegisterFile& r) {
  return {static_cast<int16_t>(r.get(reg::CNA_CVT_CON1__CVT_OFFSET0)),
          {static_cast<int32_t>(r.get(reg::CNA_CVT_CON1__CVT_SCALE0)),
           static_cast<int32_t>(r.get(reg::CNA_CVT_CON0__CVT_TRUNCATE_0))}};
}

std::optional<ProductStage> read_product(const RegisterFile& r) {
  ProductStage s;
  if (!r.is_on(reg::CNA_CVT_CON0__CVT_BYPASS)) s.conversion = read_conversion(r);
  s.offset = static_cast<int16_t>(r.get(reg::DPU_BS_OW_OP__OW_OP));
  const bool plain_bias =
      r.is_on(reg::DPU_BS_CFG__BS_BYPASS) ||
      (r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS) && r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS) &&
       !r.is_on(reg::DPU_BS_CFG__BS_ALU_SRC) && r.get(reg::DPU_BS_ALU_CFG) == 0 &&
       r.get(reg::DPU_BS_CFG__BS_ALU_ALGO) == kAluAdd);
  if (!r.is_on(reg::DPU_BN_CFG__BN_BYPASS)) {
    const uint32_t shift = r.get(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE);
    if (!r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) || !r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS) ||
        r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) || r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU) ||
        r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC) ||
        r.get(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG) != shift) {
      return std::nullopt;
    }
    s.before = {static_cast<int16_t>(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND)),
                static_cast<int32_t>(shift)};
  }
  s.output = {{static_cast<int32_t>(r.get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE)),
               static_cast<int32_t>(r.get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT))},
              r.get_signed(reg::DPU_OUT_CVT_OFFSET)};
  const bool plain = plain_bias && r.is_on(reg::DPU_EW_CFG__EW_BYPASS) &&
                     r.get(reg::DPU_DATA_FORMAT__PROC_PRECISION) == kInt8 &&
                     r.get(reg::DPU_DATA_FORMAT__OUT_PRECISION) == kInt8 &&
                     r.get(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP) == 0 &&
                     r.get(reg::CORE_CLIP_TRUNCATE__CLIP_TRUNCATE) == 0 &&
                     s.output.scale.scale > 0 && s.output.scale.shift <= 50 && s.before.scale > 0;
  return plain ? std::optional(s) : std::nullopt;
}

// One of a kind, whichever list it is read from.
template <typename T>
class Same {
 public:
  void see(const std::optional<T>& value) {
    broken_ |= !value || (value_ && !(*value_ == *value));
    if (value) value_ = value;
  }
  std::optional<T> get() const { return broken_ ? std::nullopt : value_; }

 private:
  std::optional<T> value_;
  bool broken_ = false;
};

bool set_once(float& to, float value) {
  const bool agrees = to == 0 || to == value;
  to = value;
  return agrees;
}

void read_table(const RegisterFile& r, SoftmaxStage& s) {
  s.table_addend = float_of(r.get(reg::DPU_BN_ALU_CFG));
  s.table_exponent = static_cast<int32_t>(r.get(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP));
  s.table.start = r.get_signed(reg::DPU_LUT_LE_START);
  s.table.end = r.get_signed(reg::DPU_LUT_LO_END);
  s.table.entry_shift = static_cast<int32_t>(r.get(reg::DPU_LUT_INFO__LUT_LE_INDEX_SELECT));
  s.table.below = {
      static_cast<int32_t>(r.get(reg::DPU_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_UFLOW_SCALE)),
      static_cast<int32_t>(r.get(reg::DPU_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT))};
  s.table.above = {
      static_cast<int32_t>(r.get(reg::DPU_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE)),
      static_cast<int32_t>(r.get(reg::DPU_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT))};
}

// False where a list does what is not known. Lists of the DPU alone that compute in halves; the
// others only move bytes.
bool read_softmax(const RegisterFile& r, SoftmaxStage& s) {
  if (r.get(reg::DPU_DATA_FORMAT__PROC_PRECISION) != kHalf) return true;
  const uint32_t to = r.get(reg::DPU_DATA_FORMAT__OUT_PRECISION);
  const bool elementwise = !r.is_on(reg::DPU_EW_CFG__EW_BYPASS);
  if (elementwise && !r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS)) {
    read_table(r, s);
    return r.get(reg::DPU_LUT_LO_START) == 0 &&
           r.get(reg::DPU_LUT_INFO__LUT_LO_INDEX_SELECT) ==
               r.get(reg::DPU_LUT_INFO__LUT_LE_INDEX_SELECT) &&
           !r.is_on(reg::DPU_BN_CFG__BN_BYPASS) && !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) &&
           !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) &&
           set_once(s.table_multiplier, half_of(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND)));
  }
  if (elementwise) {
    const uint32_t operation = r.get(reg::DPU_EW_CFG__EW_ALU_ALGO);
    s.subtracts |= operation == kAluSubtract;
    s.divides |= operation == kAluDivide;
    return operation == kAluSubtract || operation == kAluDivide;
  }
  if (r.is_on(reg::DPU_BS_CFG__BS_BYPASS) || r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS)) return true;
  const float factor = half_of(r.get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND));
  if (to == kInt8) {
    s.zero_point = r.is_on(reg::DPU_BN_CFG__BN_BYPASS) ? 0 : float_of(r.get(reg::DPU_BN_ALU_CFG));
    return r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS) && set_once(s.factor, factor);
  }
  s.addend = float_of(r.get(reg::DPU_BS_ALU_CFG));
  return !r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS) && set_once(s.unit, factor);
}

// The same of RK3562, which adds before it multiplies and has a factor behind the table.
bool read_softmax_of_rk3562(const RegisterFile& raw, uint32_t units, SoftmaxStage& s) {
  const auto r = target::rk3562_as_rk3588(raw, units);
  if (!r.ok() || !read_softmax(*r, s)) return false;
  const bool looks_up = r->get(reg::DPU_DATA_FORMAT__PROC_PRECISION) == kHalf &&
                        !r->is_on(reg::DPU_EW_CFG__EW_BYPASS) &&
                        !r->is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS);
  if (!looks_up) return true;
  s.table_addend *= s.table_multiplier;
  constexpr uint32_t kOne = 16384, kOneShift = 14;
  return r->get(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE) == kOne &&
         r->get(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT) == kOneShift;
}

// Not rounded between entries.
float look_up(const program::LookupStage& t, float index) {
  const auto line = [](float distance, const ScaleShift& slope) {
    return std::ldexp(distance * static_cast<float>(slope.scale), -slope.shift);
  };
  const auto start = static_cast<float>(t.start), end = static_cast<float>(t.end);
  if (index < start) return static_cast<float>(t.low.front()) + line(index - start, t.below);
  if (index != index) return index;
  if (index > end) return static_cast<float>(t.high.back()) + line(index - end, t.above);
  const std::vector<int16_t>& entries = index < 0 ? t.low : t.high;
  const float position = std::ldexp(index < 0 ? index - start : index, -t.entry_shift);
  const auto at = std::min(static_cast<size_t>(position), entries.size() - 2);
  const float rest = std::min(position - static_cast<float>(at), 1.0f);
  return static_cast<float>(entries[at]) + static_cast<float>(entries[at + 1] - entries[at]) * rest;
}

}  // namespace

uint16_t SoftmaxStage::exponential(int x, int largest) const {
  const auto number = [&](int code) { return as_half((static_cast<float>(code) + addend) * unit); };
  const float distance = as_half(number(x) - number(largest));
  const float found = look_up(table, distance * table_multiplier + table_addend);
  return float_to_half(std::ldexp(found, -table_exponent));
}

std::vector<uint8_t> exponential_table(const SoftmaxStage& stage) {
  constexpr int kFirst = -kSoftmaxCodes / 2;
  std::vector<uint8_t> table;
  for (int largest = kFirst; largest < kFirst + kSoftmaxCodes; ++largest) {
    for (int x = kFirst; x < kFirst + kSoftmaxCodes; ++x) {
      const uint16_t half = stage.exponential(std::min(x, largest), largest);
      table.push_back(static_cast<uint8_t>(half));
      table.push_back(static_cast<uint8_t>(half >> 8));
    }
  }
  return table;
}

ProductLists read_product_lists(LiftContext& c) {
  ProductLists out;
  Same<InputStage> conversion;
  Same<ProductStage> result, scores;
  SoftmaxStage softmax;
  // Of RK3562 the softmax alone.
  const bool elsewhere = c.model.platform == "rk3562";
  bool known = (c.model.platform == "rk3588" || elsewhere) && !c.node().outputs.empty();
  const RegisterFile& r = c.tasks.registers();
  while (true) {
    LoadedTask loaded = next_with_tables(c, 0);
    if (loaded.task == nullptr) break;
    if (!loaded.low.empty()) softmax.table.low = std::move(loaded.low);
    if (!loaded.high.empty()) softmax.table.high = std::move(loaded.high);
    if ((loaded.task->units & kUnitCna) == 0) {
      known = known && (elsewhere ? read_softmax_of_rk3562(r, loaded.task->units, softmax)
                                  : read_softmax(r, softmax));
      continue;
    }
    if (!out.multiplies && c.registers != nullptr) {
      out.multiplies = true;
      out.offset = static_cast<int16_t>(r.get(c.registers->layer_offset));
      out.output = {static_cast<int32_t>(r.get(c.registers->output_scale)),
                    static_cast<int32_t>(r.get(c.registers->output_shift))};
    }
    const bool converts = !r.is_on(reg::CNA_CVT_CON0__CVT_BYPASS);
    if (converts && c.registers != nullptr && c.registers->has_stages)
      conversion.see(read_conversion(r));
    if (!known || elsewhere || r.get(reg::CNA_CONV_CON1__IN_PRECISION) != kInt8) continue;
    const auto to = c.lists.address_of(*loaded.task, reg::DPU_DST_BASE_ADDR);
    const bool last = to && to->tensor == c.node().outputs[0];
    (last ? result : scores).see(to ? read_product(r) : std::nullopt);
  }
  out.conversion = conversion.get();
  if (!known) return out;
  out.result = result.get();
  out.scores = scores.get();
  const bool has_table = softmax.table.low.size() == program::kLookupEntries &&
                         softmax.table.high.size() == program::kLookupEntries &&
                         softmax.table.entry_shift < 16;
  if (softmax.complete() && has_table) out.softmax = std::move(softmax);
  return out;
}

}  // namespace rk::format
