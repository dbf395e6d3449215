// SPDX-License-Identifier: Apache-2.0
#include "target/registers.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace rk::target {
namespace {

// All fields, registers in the order of registers.def.
constexpr RegisterField kFields[] = {
#define RK_REGISTER(unit, name, offset)
#define RK_FIELD(unit, register_name, offset, name, low, high) {#name, offset, low, high},
#include "target/registers.def"
#undef RK_REGISTER
#undef RK_FIELD
};

constexpr Register kNames[] = {
#define RK_REGISTER(unit, name, offset) {#unit, #name, offset, {}},
#define RK_FIELD(unit, register_name, offset, name, low, high)
#include "target/registers.def"
#undef RK_REGISTER
#undef RK_FIELD
};

constexpr size_t kCount = std::size(kNames);
constexpr uint16_t kPointerOffset = 4;  // S_POINTER in every unit but PC

std::array<Register, kCount> make_table() {
  std::array<Register, kCount> table{};
  std::copy(std::begin(kNames), std::end(kNames), table.begin());
  for (Register& r : table) {
    const auto of_register = [&](const RegisterField& f) { return f.offset == r.offset; };
    const auto first = std::find_if(std::begin(kFields), std::end(kFields), of_register);
    const auto last = std::find_if_not(first, std::end(kFields), of_register);
    r.fields = {first, last};
  }
  std::sort(table.begin(), table.end(),
            [](const Register& a, const Register& b) { return a.offset < b.offset; });
  return table;
}

}  // namespace

std::string_view unit_of_target(uint16_t target) {
  switch (target) {
    case 0x0101:
      return "PC";
    case 0x0201:
      return "CNA";
    case 0x0401:
      return "UNIT_2000";  // RK3566 only; no public name
    case 0x0801:
      return "CORE";
    case 0x1001:
      return "DPU";
    case 0x2001:
      return "DPU_RDMA";
    case 0x4001:
      return "PPU";
    case 0x8001:
      return "PPU_RDMA";
    case 0x0041:
      return "PC_PREPARE";
    case 0x0081:
      return "PC_ENABLE";
    default:
      return {};
  }
}

const Register* find_register(uint16_t offset) {
  static const std::array<Register, kCount> table = make_table();
  const auto it = std::lower_bound(table.begin(), table.end(), offset,
                                   [](const Register& r, uint16_t o) { return r.offset < o; });
  return it != table.end() && it->offset == offset ? &*it : nullptr;
}

std::string describe_fields(const Register& register_info, uint32_t value) {
  std::ostringstream out;
  for (const RegisterField& field : register_info.fields) {
    if (field.get(value) == 0) continue;
    out << (out.tellp() > 0 ? " " : "") << field.name << "=" << field.get(value);
  }
  return out.tellp() > 0 ? out.str() : "0";
}

void RegisterFile::write(const RegisterCommand& command) {
  const uint32_t unit = command.offset / kUnitBytes;
  if (unit >= kUnits) return;
  if (unit != 0 && command.offset % kUnitBytes == kPointerOffset) pointer_[unit] = command.value;
  values_[bank_[unit]][command.offset / 4] = command.value;
}

void RegisterFile::finish_task(uint32_t units) {
  // Bit n of the mask is the unit at (n + 1) * 0x1000.
  for (uint32_t unit = 1; unit < kUnits; ++unit) {
    const bool alternates = reg::CNA_S_POINTER__POINTER_PP_EN.get(pointer_[unit]) != 0;
    if ((units >> (unit - 1) & 1) != 0 && alternates) bank_[unit] ^= 1;
  }
}

uint32_t RegisterFile::get(uint16_t offset) const {
  const uint32_t unit = offset / kUnitBytes;
  return unit < kUnits ? values_[bank_[unit]][offset / 4] : 0;
}

const ConvRegisters* conv_registers(std::string_view chip) {
  static const ConvRegisters rk3588 = {
      .output_scale = reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE,
      .output_shift = reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT,
      .output_offset = reg::DPU_OUT_CVT_OFFSET,
      .addend_scale = reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE,
      .addend_shift = reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT,
      .addend_offset = reg::DPU_EW_CVT_OFFSET_VALUE,
      .multiplier_shift = reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE,
      .has_stages = true,
      .bias_operation = reg::DPU_BS_CFG__BS_ALU_ALGO,
      .addend_operation = reg::DPU_EW_CFG__EW_ALU_ALGO,
      .border = {"PAD_VALUE", reg::CNA_PAD_CON1, 0, 7},
      .truncate = reg::CORE_CLIP_TRUNCATE__CLIP_TRUNCATE,
      .core_width = reg::CORE_DATAOUT_SIZE_0__DATAOUT_WIDTH,
      .core_height = reg::CORE_DATAOUT_SIZE_0__DATAOUT_HEIGHT,
  };
  // As seen in lists of pp_human_seg: the operation codes sit lower, the border shares a register with the pads, and
  // CORE's registers come 4 bytes earlier (its truncation, never written in a known list, by that pattern).
  static const ConvRegisters rk3566 = [] {
    ConvRegisters r = rk3588;
    r.bias_operation = {"BS_ALU_ALGO", reg::DPU_BS_CFG, 2, 3};
    r.addend_operation = {"EW_ALU_ALGO", reg::DPU_EW_CFG, 3, 4};
    r.border = {"PAD_VALUE", reg::CNA_PAD_CON0, 16, 23};
    r.truncate = {"CLIP_TRUNCATE", 0x3018, 0, 4};
    r.core_width = {"DATAOUT_WIDTH", 0x3010, 0, 15};
    r.core_height = {"DATAOUT_HEIGHT", 0x3010, 16, 31};
    return r;
  }();
  // RK3576 and RV1126B keep the multiplier's shift in a small table in memory, RK3562 in a register.
  static const ConvRegisters later = {
      .output_scale = {"OUT_CVT_SCALE", 0x40b0, 0, 15},
      .output_shift = {"OUT_CVT_SHIFT", 0x40b4, 0, 5},
      .output_offset = 0x40ac,
      .addend_scale = {"EW_OP_CVT_SCALE", 0x4084, 0, 15},
      .addend_shift = {"EW_OP_CVT_SHIFT", 0x4084, 16, 21},
      .addend_offset = 0x4080,
      .addend_offset_bits = 16,
      .multiplier_shift = {},
      .multiplier_table = 0x5024,
  };
  static const ConvRegisters rk3562 = [] {
    ConvRegisters r = later;
    r.multiplier_shift = {"BS_MUL_SHIFT_VALUE", 0x4054, 16, 23};
    r.multiplier_table = 0;
    return r;
  }();
  if (chip == "rk3588") return &rk3588;
  if (chip == "rk3566") return &rk3566;
  if (chip == "rk3562") return &rk3562;
  if (chip == "rk3576" || chip == "rv1126b") return &later;
  return nullptr;
}

}  // namespace rk::target
