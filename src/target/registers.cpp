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
      .addend_offset = {"EW_OP_CVT_OFFSET", reg::DPU_EW_CVT_OFFSET_VALUE, 0, 31},
      .multiplier_shift = reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE,
      .bias_form = {"BRDMA_DATA_USE", 0x501c, 1, 3},
      .layer_offset = {"OW_OP", 0x4054, 0, 15},
      .layer_multiplier = {"BS_MUL_OPERAND", 0x4048, 16, 31},
      .clip_limit = 0x406c,
      .slope = {"BN_MUL_OPERAND", 0x4068, 16, 31},
      .negative_shift = {"BS_NEGATIVE_SHIFT", 0x4010, 4, 9},
      .slope_shift = {"BN_NEGATIVE_SHIFT", 0x4010, 10, 15},
      .slope_positive_shift = {"BN_MUL_SHIFT", 0x4068, 8, 13},
      .lookup = {.multiplier = {"BN_MUL_OPERAND", 0x4068, 16, 31},
                 .shift = {"BN_MUL_SHIFT", 0x4068, 8, 13},
                 .addend = 0x4064,
                 .entry_shift = {"LUT_INDEX", 0x410c, 8, 15},
                 .start = 0x4110,
                 .end = 0x411c,
                 .below_scale = {"LE_SLOPE_SCALE", 0x4120, 0, 15},
                 .below_shift = {"LE_SLOPE_SHIFT", 0x4124, 0, 4},
                 .above_scale = {"LO_SLOPE_SCALE", 0x4128, 16, 31},
                 .above_shift = {"LO_SLOPE_SHIFT", 0x412c, 5, 9},
                 .table_off = {"EW_LUT_BYPASS", 0x4070, 7, 7}},
      .geometry = {.stride_x = reg::CNA_CONV_CON3__CONV_X_STRIDE,
                   .stride_y = reg::CNA_CONV_CON3__CONV_Y_STRIDE,
                   .dilation_x = reg::CNA_CONV_CON3__ATROUS_X_DILATION,
                   .dilation_y = reg::CNA_CONV_CON3__ATROUS_Y_DILATION,
                   .kernel_w = reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH,
                   .kernel_h = reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT,
                   .pad_top = reg::CNA_PAD_CON0__PAD_TOP,
                   .pad_left = reg::CNA_PAD_CON0__PAD_LEFT,
                   .depthwise = reg::CNA_CONV_CON1__CONV_MODE,
                   .deconv_x = reg::CNA_CONV_CON3__DECONV_X_STRIDE,
                   .deconv_y = reg::CNA_CONV_CON3__DECONV_Y_STRIDE},
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
    r.bias_group = 4;
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
      .addend_offset = {"EW_OP_CVT_OFFSET", 0x4080, 0, 15},
      .multiplier_shift = {},
      .multiplier_table = 0x5024,
      .bias_form = {"BRDMA_DATA_USE", 0x501c, 8, 10},
      .depthwise_layer_offset = {"WEIGHT_OFFSET", 0x1074, 0, 7},
      .depthwise_offsets = DepthwiseOffsets::kPairs,
      .clip_limit = 0x4070,
      .clip_in_first_unit = true,
      .clip_low = 0x4090,
      .clip_low_f32 = 0x4074,
      .picture_rows = {"PICTURE_ROWS", 0x100c, 2, 2},
      .lookup = {.addend = 0x4064,
                 .addend_first = true,
                 .record_table = 0x5030,
                 .entry_shift = {"LUT_INDEX", 0x410c, 8, 15},
                 .start = 0x4110,
                 .end = 0x4140,
                 .below_scale = {"LE_SLOPE_SCALE", 0x4150, 16, 31},
                 .below_shift = {"LE_SLOPE_SHIFT", 0x4160, 8, 15},
                 .above_scale = {"LO_SLOPE_SCALE", 0x4170, 16, 31},
                 .above_shift = {"LO_SLOPE_SHIFT", 0x4184, 8, 15},
                 .table_off = {"EW_LUT_BYPASS", 0x407c, 7, 7}},
      // Seen in transposed convolutions with three kernels and pads.
      .geometry = {.stride_x = {"CONV_X_STRIDE", 0x1014, 0, 2},
                   .stride_y = {"CONV_Y_STRIDE", 0x1014, 3, 5},
                   .dilation_x = {"NN_X_DILATION", 0x1014, 16, 20},
                   .dilation_y = {"NN_Y_DILATION", 0x1014, 21, 25},
                   .kernel_w = {"WEIGHT_WIDTH", 0x1024, 24, 31},
                   .kernel_h = {"WEIGHT_HEIGHT", 0x1024, 16, 23},
                   .kernel_less = 1,
                   .pad_top = {"PAD_TOP", 0x1080, 0, 7},
                   .pad_left = {"PAD_LEFT", 0x1080, 8, 15},
                   .depthwise = {"CONV_MODE", 0x100c, 0, 0},
                   .deconv_x = {"DECONV_X_STRIDE", 0x1014, 8, 10},
                   .deconv_y = {"DECONV_Y_STRIDE", 0x1014, 11, 13}},
  };
  static const ConvRegisters rk3562 = [] {
    ConvRegisters r = later;
    r.multiplier_shift = {"BS_MUL_SHIFT_VALUE", 0x4054, 16, 21};
    r.multiplier_table = 0;
    r.bias_group = 4;
    r.bias_form = {"BRDMA_DATA_USE", 0x501c, 1, 3};
    r.layer_offset = {"OW_OP", 0x4054, 0, 15};
    r.layer_multiplier = {"BS_MUL_OPERAND", 0x4044, 16, 31};
    r.picture_rows = {};
    // One shift for sums from zero up, one for those below (layer_conv_leaky, layer_conv_prelu).
    r.slope = {"BN_MUL_OPERAND", 0x4068, 16, 31};
    r.slope_multiplier_shift = {"BS_POSITIVE_SHIFT", 0x4038, 8, 13};
    r.negative_shift = {"BS_NEGATIVE_SHIFT", 0x4054, 16, 21};
    r.lookup = rk3588.lookup;
    r.lookup.addend_first = true;
    r.lookup.table_off = {"EW_LUT_BYPASS", 0x407c, 7, 7};
    r.geometry.kernel_less = 0;
    return r;
  }();
  // The small chips (container 0x1004): geometry is in registers too. t3 is close to RK3588 ...
  static const ConvRegisters rv1106 = [] {
    ConvRegisters r = rk3588;
    r.has_stages = false;
    r.lookup.addend_first = true;
    r.output_scale = {"OUT_CVT_SCALE", 0x4084, 0, 15};
    r.multiplier_shift = {"BS_MUL_SHIFT_VALUE", 0x4054, 24, 29};
    r.slope_multiplier_shift = {"BS_POSITIVE_SHIFT", 0x4040, 9, 14};
    r.negative_shift = r.multiplier_shift;
    r.slope_shift = r.slope_positive_shift = {};
    r.bias_group = 4;
    r.depthwise_offsets = DepthwiseOffsets::kAlternating;
    r.depthwise_layer_offset = {"WEIGHT_OFFSET", 0x1074, 0, 7};
    r.clip_limit = 0x4028;
    r.clip_in_first_unit = true;
    r.geometry = {.stride_x = {"CONV_X_STRIDE", 0x1014, 0, 2},
                  .stride_y = {"CONV_Y_STRIDE", 0x1014, 3, 5},
                  .dilation_x = {"NN_X_DILATION", 0x1014, 16, 20},
                  .dilation_y = {"NN_Y_DILATION", 0x1014, 21, 25},
                  .kernel_w = {"WEIGHT_WIDTH", 0x1038, 24, 28},
                  .kernel_h = {"WEIGHT_HEIGHT", 0x1038, 16, 20},
                  .pad_top = {"PAD_TOP", 0x1068, 0, 7},
                  .pad_left = {"PAD_LEFT", 0x1068, 8, 15},
                  .depthwise = {"CONV_MODE", 0x100c, 0, 0},
                  .deconv_x = {"DECONV_X_STRIDE", 0x1014, 8, 10},
                  .deconv_y = {"DECONV_Y_STRIDE", 0x1014, 11, 13}};
    return r;
  }();
  // ... w1 and w2 are not.
  static const ConvRegisters rv1103b = [] {
    ConvRegisters r;
    r.units = 0x09;
    r.output_scale = {"OUT_CVT_SCALE", 0x4090, 0, 15};
    r.output_shift = {"OUT_CVT_SHIFT", 0x4090, 16, 23};
    r.output_offset = 0x408c;
    r.addend_scale = {"EW_OP_CVT_SCALE", 0x4088, 0, 15};
    r.addend_shift = {"EW_OP_CVT_SHIFT", 0x404c, 20, 23};
    r.addend_offset = {"EW_OP_CVT_OFFSET", 0x4088, 16, 31};
    r.multiplier_shift = {"BS_MUL_SHIFT_VALUE", 0x4080, 0, 7};
    r.negative_shift = {"BS_NEGATIVE_SHIFT", 0x4080, 8, 15};
    r.slope = {"SLOPE", 0x4050, 0, 15};
    r.byte_offsets = true;
    r.bias_form = {"BRDMA_DATA_USE", 0x501c, 0, 3};
    r.bias_form_all = 0xb;
    r.bias_form_without_offset = 3;
    r.bias_form_alone = 1;
    r.layer_offset = {"OW_OP", 0x1078, 0, 7};
    r.depthwise_offsets = DepthwiseOffsets::kEights;
    r.clip_limit = 0x4060;
    r.clip_in_first_unit = true;
    r.picture_rows = {"PICTURE_ROWS", 0x1014, 27, 27};
    r.fully_connected = {"FULLY_CONNECTED", 0x1014, 28, 28};
    r.geometry = {.stride_x = {"CONV_X_STRIDE", 0x100c, 0, 3},
                  .stride_y = {"CONV_Y_STRIDE", 0x100c, 4, 7},
                  .dilation_x = {"NN_X_DILATION", 0x100c, 16, 19},
                  .dilation_y = {"NN_Y_DILATION", 0x100c, 24, 27},
                  .kernel_w = {"WEIGHT_WIDTH", 0x1018, 24, 31},
                  .kernel_h = {"WEIGHT_HEIGHT", 0x1018, 16, 23},
                  .kernel_less = 1,
                  .pad_top = {"PAD_TOP", 0x1028, 24, 27},
                  .pad_left = {"PAD_LEFT", 0x1084, 8, 15},
                  .depthwise = {"CONV_MODE", 0x1014, 24, 24},
                  .deconv_x = {"DECONV_X_STRIDE", 0x100c, 8, 11},
                  .deconv_y = {"DECONV_Y_STRIDE", 0x100c, 12, 15}};
    return r;
  }();
  if (chip == "rk3588") return &rk3588;
  if (chip == "rk3566") return &rk3566;
  if (chip == "rk3562") return &rk3562;
  if (chip == "rk3576" || chip == "rv1126b") return &later;
  if (chip == "rv1106") return &rv1106;
  if (chip == "rv1103b" || chip == "rv1106b" || chip == "rk2118") return &rv1103b;
  return nullptr;
}

}  // namespace rk::target
