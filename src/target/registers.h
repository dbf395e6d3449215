// SPDX-License-Identifier: Apache-2.0
// Registers of the NPU: what a 64-bit command word means, names and fields for people, and typed fields for code that
// computes with them. Everything is made from registers.def, so decoder, lifter and emulator cannot disagree.
//
// Note: the map is RK3588's. RK3566 agrees on the convolution registers, the later chips move some of
// them: code that reads a file of any chip goes through conv_registers().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rk::target {

// One command of a register list: bits 63..48 target unit, 47..16 value, 15..0 register.
struct RegisterCommand {
  uint16_t target = 0;
  uint32_t value = 0;
  uint16_t offset = 0;

  static RegisterCommand decode(uint64_t word) {
    return {static_cast<uint16_t>(word >> 48), static_cast<uint32_t>(word >> 16),
            static_cast<uint16_t>(word)};
  }
};

// The unit a command's target bits select ("CNA", "DPU_RDMA"), empty when not known.
std::string_view unit_of_target(uint16_t target);

struct RegisterField {
  std::string_view name;
  uint16_t offset = 0;  // of the register
  uint8_t low = 0, high = 31;

  constexpr uint32_t get(uint32_t value) const {
    return (value >> low) & static_cast<uint32_t>((uint64_t{1} << (high - low + 1)) - 1);
  }
};

struct Register {
  std::string_view unit;
  std::string_view name;
  uint16_t offset = 0;
  std::span<const RegisterField> fields;  // from the lowest bit up
};

// Null when the map has no register there.
const Register* find_register(uint16_t offset);

// "DATAIN_WIDTH=128 DATAIN_HEIGHT=128": fields that are not zero, or "0". Empty for unknown registers.
std::string describe_fields(const Register& register_info, uint32_t value);

// reg::CNA_CONV_CON1 is the register's offset, reg::CNA_CONV_CON1_CONV_MODE one of its fields.
namespace reg {
#define RK_REGISTER(unit, name, offset) inline constexpr uint16_t unit##_##name = offset;
#define RK_FIELD(unit, register_name, offset, name, low, high) \
  inline constexpr RegisterField unit##_##register_name##__##name{#name, offset, low, high};
#include "target/registers.def"
#undef RK_REGISTER
#undef RK_FIELD
}  // namespace reg

// The registers of one core. Every unit has two banks: a list writes one while the unit may still work with the other,
// and the unit changes banks with each task it takes part in. So a register that a list does not write has the value of
// the unit's task before the last, not of the last. (With one bank 19 of the 300 resize phases of a vendor file have
// output scales that contradict their weights; with two, none.)
class RegisterFile {
 public:
  void write(const RegisterCommand& command);
  // The task whose list was written ends: the units of its enable mask change banks.
  void finish_task(uint32_t units);

  // In the bank that the last list wrote; 0 when it was never written.
  uint32_t get(uint16_t offset) const;
  uint32_t get(const RegisterField& field) const { return field.get(get(field.offset)); }
  int32_t get_signed(uint16_t offset) const { return static_cast<int32_t>(get(offset)); }
  bool is_on(const RegisterField& field) const { return get(field) != 0; }

 private:
  static constexpr uint32_t kUnits = 9;  // 0x1000 bytes of registers each, PC is the first
  static constexpr uint32_t kUnitBytes = 0x1000;
  uint32_t values_[2][kUnits * kUnitBytes / 4] = {};
  // S_POINTER of each unit: it has one bank and switches the others. Lists write those of DPU, DPU_RDMA and PPU; the
  // driver has set CNA and CORE to alternate before the first (the convolutions of the vendor's layer normalization
  // make sense with it only).
  static constexpr uint32_t kAlternating = 0xe;
  uint32_t pointer_[kUnits] = {0, kAlternating, 0, kAlternating};
  uint8_t bank_[kUnits] = {};
};

// Where an activation by lookup table keeps its constants (docs/fidelity.md, "Lookup tables"): index = (v * multiplier +
// addend) >> shift, entries every 2^entry_shift of it, a straight line outside.
struct LookupRegisters {
  RegisterField multiplier, shift;
  uint16_t addend = 0;
  bool addend_first = false;  // (v + addend) * multiplier
  uint16_t record_table = 0;  // address of a record in memory that replaces them; 0: none
  RegisterField entry_shift;
  uint16_t start = 0, end = 0;
  RegisterField below_scale, below_shift, above_scale, above_shift;
  RegisterField table_off;  // 0 where a task uses its table
};

// Where a register list keeps a convolution's geometry, for files whose nodes do not have it.
struct GeometryRegisters {
  RegisterField stride_x, stride_y, dilation_x, dilation_y;  // dilations less 1
  RegisterField kernel_w, kernel_h;
  int kernel_less = 0;  // kernel extents are stored less this
  RegisterField pad_top, pad_left, depthwise;
  RegisterField deconv_x, deconv_y;  // strides of a transposed convolution, less 1
};

// Where the weight offsets of a depthwise convolution lie.
enum class DepthwiseOffsets : uint8_t {
  kInBias,       // in the bias block, as for other convolutions
  kPairs,        // in the weights: w0 w1 o0 o1
  kAlternating,  // w0 o0 w1 o1
  kEights,       // eight w, eight o
};

// Where an int8 convolution's constants lie on a chip (docs/facts/container.md, section 3.6). A zero offset: not known there.
struct ConvRegisters {
  RegisterField output_scale, output_shift;
  uint16_t output_offset = 0;
  RegisterField addend_scale, addend_shift;
  RegisterField addend_offset;     // signed
  RegisterField multiplier_shift;  // offset 0: in a table that multiplier_table points to
  uint16_t multiplier_table = 0;
  uint16_t units = 0x0d;  // of a task that convolves: CNA, CORE, DPU
  int bias_group = 8;     // channels per group of the bias block
  bool byte_offsets =
      false;  // groups of 8 as i32 b0-3, i16 m0-3, i8 o0-7, i32 b4-7, i16 m4-7; depthwise 4 x i32 b, i16 m
  RegisterField bias_form;  // which of bias, weight offset and multiplier the block has
  uint32_t bias_form_all = 7, bias_form_without_offset = 5, bias_form_alone = 1;
  RegisterField
      layer_offset;  // the one weight offset beside a bias alone; offset 0: in multiplier_table
  RegisterField depthwise_layer_offset;  // of depthwise layers, where it has a register of its own
  // The one multiplier beside a bias alone, which only layers with a slope have; offset 0: in multiplier_table, after the
  // weight offset and before the shifts.
  RegisterField layer_multiplier;
  DepthwiseOffsets depthwise_offsets = DepthwiseOffsets::kInBias;
  uint16_t clip_limit = 0;          // of Relu6 and Clip: an integer, float32 bits in float16 layers
  bool clip_in_first_unit = false;  // in s_in * s_w[0] instead of s_in * max s_w
  uint16_t clip_low =
      0;  // of a Clip: what is added again after it, in s_in * max s_w; 0: not known
  uint16_t clip_low_f32 = 0;   // in float16 layers, beside an upper end in clip_limit; 0: not known
  RegisterField picture_rows;  // weights of a picture's first layer lie in rows
  RegisterField fully_connected;  // a form of RK2118 whose weights the file does not hold
  RegisterField slope;            // of LeakyRelu
  RegisterField negative_shift, slope_shift, slope_positive_shift;
  RegisterField slope_multiplier_shift;  // of sums from zero up beside a slope; offset 0: the usual
  LookupRegisters lookup;
  GeometryRegisters geometry;
  // The rest only where has_stages: activations, bypass bits and helper tasks are where RK3588 has them.
  bool has_stages = false;
  RegisterField bias_operation, addend_operation;  // 2: addition
  RegisterField border;                            // int8
  RegisterField truncate;                          // shift of the accumulator
  RegisterField core_width, core_height;           // of the output, less 1
};

// Null when the registers of this chip ("rk3588") are not known.
const ConvRegisters* conv_registers(std::string_view chip);

}  // namespace rk::target
