// SPDX-License-Identifier: Apache-2.0
// Tables and dispatch of the layout and border conversions.
#include "base/fixed_point.h"
#include "base/half.h"
#include "kernels/dispatch.h"
#include "kernels/layout/convert.h"
#include "kernels/layout/quantize.h"

namespace rk::kernels {

namespace {

float normalized(BorderAffine affine, float x) { return (x - affine.mean) / affine.stddev; }

}  // namespace

void make_quantize_table_u8(BorderAffine affine, float scale, int32_t zero_point, int8_t* table) {
  for (int raw = 0; raw < 256; ++raw) {
    table[raw] = quantize_f32(normalized(affine, static_cast<float>(raw)), scale, zero_point);
  }
}

void make_quantize_table_i8(BorderAffine affine, float scale, int32_t zero_point, int8_t* table) {
  for (int raw = 0; raw < 256; ++raw) {
    const auto x = static_cast<float>(static_cast<int8_t>(raw));
    table[raw] = quantize_f32(normalized(affine, x), scale, zero_point);
  }
}

void make_half_table_u8(BorderAffine affine, uint16_t* table) {
  for (int raw = 0; raw < 256; ++raw) {
    table[raw] = float_to_half(normalized(affine, static_cast<float>(raw)));
  }
}

void make_half_table_i8(BorderAffine affine, uint16_t* table) {
  for (int raw = 0; raw < 256; ++raw) {
    const auto x = static_cast<float>(static_cast<int8_t>(raw));
    table[raw] = float_to_half(normalized(affine, x));
  }
}

void plain_to_blocked(const PlainArgs& args, IndexRange units) {
  RK_DISPATCH(plain_to_blocked, args, units);
}
void blocked_to_plain(const PlainArgs& args, IndexRange units) {
  RK_DISPATCH(blocked_to_plain, args, units);
}
void chip_to_blocked(const ChipArgs& args, IndexRange units) {
  RK_DISPATCH(chip_to_blocked, args, units);
}
void blocked_to_chip(const ChipArgs& args, IndexRange units) {
  RK_DISPATCH(blocked_to_chip, args, units);
}
void copy_channels(const ChannelCopyArgs& args, IndexRange units) {
  RK_DISPATCH(copy_channels, args, units);
}
void gather_channels(const ChannelGatherArgs& args, IndexRange units) {
  RK_DISPATCH(gather_channels, args, units);
}
void quantize_by_table(const TableQuantizeArgs& args, IndexRange units) {
  RK_DISPATCH(quantize_by_table, args, units);
}
void quantize_f32_to_i8(const QuantizeF32Args& args, IndexRange units) {
  RK_DISPATCH(quantize_f32_to_i8, args, units);
}
void quantize_f16_to_i8(const QuantizeF16Args& args, IndexRange units) {
  RK_DISPATCH(quantize_f16_to_i8, args, units);
}
void half_by_table(const TableHalfArgs& args, IndexRange units) {
  RK_DISPATCH(half_by_table, args, units);
}
void f32_to_blocked_f16(const HalfF32Args& args, IndexRange units) {
  RK_DISPATCH(f32_to_blocked_f16, args, units);
}
void f16_to_blocked_f16(const HalfF16Args& args, IndexRange units) {
  RK_DISPATCH(f16_to_blocked_f16, args, units);
}
void dequantize_i8_to_f32(const DequantizeArgs& args, IndexRange units) {
  RK_DISPATCH(dequantize_i8_to_f32, args, units);
}
void blocked_f16_to_f32(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  RK_DISPATCH(blocked_f16_to_f32, args, units);
}
void f32_to_f16(const float* input, uint16_t* output, IndexRange elements) {
  RK_DISPATCH(f32_to_f16, input, output, elements);
}
void f16_to_f32(const uint16_t* input, float* output, IndexRange elements) {
  RK_DISPATCH(f16_to_f32, input, output, elements);
}
void f32_to_i8(const float* input, int8_t* output, QuantScale by, IndexRange elements) {
  RK_DISPATCH(f32_to_i8, input, output, by, elements);
}
void i8_to_f32(const int8_t* input, float* output, QuantScale by, IndexRange elements) {
  RK_DISPATCH(i8_to_f32, input, output, by, elements);
}

}  // namespace rk::kernels
