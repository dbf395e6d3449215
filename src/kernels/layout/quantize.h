// SPDX-License-Identifier: Apache-2.0
// The borders of a model: caller's pixels or floats to blocked int8 or fp16, and back to float.
//
// Note: this rounds x / scale in float (rk::quantize_f32), not by the NPU's integer
// rule.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/layout/blocked.h"
#include "kernels/layout/convert.h"

namespace rk::kernels {

// The caller's side of a conversion. One unit of every function here is one row (n, h); see
// layout_units().
template <typename In, typename Out>
struct BorderArgs {
  ActivationShape shape;
  PlainLayout layout = PlainLayout::kNhwc;  // of the plain side
  int64_t w_stride = 0;                     // pixels from one plain row to the next; 0: extent.w
  const In* input = nullptr;
  Out* output = nullptr;
  // The output has no blocks but is [n][h][w][channels]. Only the conversions to int8 and fp16 do that.
  bool interleaved = false;
};

// uint8 or int8 (as raw bytes) to blocked int8 through one 256-entry table per channel, indexed by
// the raw byte.
struct TableQuantizeArgs : BorderArgs<uint8_t, int8_t> {
  const int8_t* tables = nullptr;  // [channels][256]
  int8_t fill = 0;                 // padding lanes
};
void quantize_by_table(const TableQuantizeArgs& args, IndexRange units);

// y = quantize((x - mean) / stddev, scale, zero_point) for each raw byte.
struct BorderAffine {
  float mean = 0.0f;
  float stddev = 1.0f;
};
void make_quantize_table_u8(BorderAffine affine, float scale, int32_t zero_point, int8_t* table);
void make_quantize_table_i8(BorderAffine affine, float scale, int32_t zero_point, int8_t* table);

struct QuantizeParams {
  const BorderAffine* affine = nullptr;  // per channel; null: x itself
  float scale = 1.0f;                    // positive
  int32_t zero_point = 0;
};
struct QuantizeF32Args : BorderArgs<float, int8_t> {
  QuantizeParams params;
};
struct QuantizeF16Args : BorderArgs<uint16_t, int8_t> {
  QuantizeParams params;
};
void quantize_f32_to_i8(const QuantizeF32Args& args, IndexRange units);
void quantize_f16_to_i8(const QuantizeF16Args& args, IndexRange units);

// uint8 to blocked fp16, (x - mean) / stddev through one table of 256 fp16 per channel, indexed by
// the raw byte.
struct TableHalfArgs : BorderArgs<uint8_t, uint16_t> {
  const uint16_t* tables = nullptr;  // [channels][256]
};
void half_by_table(const TableHalfArgs& args, IndexRange units);
void make_half_table_u8(BorderAffine affine, uint16_t* table);
void make_half_table_i8(BorderAffine affine, uint16_t* table);

// float to blocked fp16, (x - mean) / stddev.
struct HalfF32Args : BorderArgs<float, uint16_t> {
  const BorderAffine* affine = nullptr;  // per channel; null: x itself
};
void f32_to_blocked_f16(const HalfF32Args& args, IndexRange units);

// fp16 to blocked fp16, (x - mean) / stddev in float32, rounded once; without `affine` halves move unchanged by
// plain_to_blocked.
struct HalfF16Args : BorderArgs<uint16_t, uint16_t> {
  const BorderAffine* affine = nullptr;  // per channel; null: x itself
};
void f16_to_blocked_f16(const HalfF16Args& args, IndexRange units);

// Blocked to plain float: (x - zero_point) * scale.
struct DequantizeArgs : BorderArgs<int8_t, float> {
  float scale = 1.0f;
  int32_t zero_point = 0;
};
void dequantize_i8_to_f32(const DequantizeArgs& args, IndexRange units);
void blocked_f16_to_f32(const BorderArgs<uint16_t, float>& args, IndexRange units);

// Flat arrays, any layout; one unit is one element.
void f32_to_f16(const float* input, uint16_t* output, IndexRange elements);
void f16_to_f32(const uint16_t* input, float* output, IndexRange elements);
struct QuantScale {
  float scale = 1.0f;  // positive
  int32_t zero_point = 0;
};
void f32_to_i8(const float* input, int8_t* output, QuantScale by, IndexRange elements);
void i8_to_f32(const int8_t* input, float* output, QuantScale by, IndexRange elements);

}  // namespace rk::kernels
