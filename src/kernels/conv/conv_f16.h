// SPDX-License-Identifier: Apache-2.0
// fp16 convolution on blocked activations: storage fp16, products and sums in fp32, one rounding
// per output.
//   v = bias + sum x * w ; activation ; + residual ; relu_after_add ; round to fp16
// The sum runs over input channel block, kernel row, kernel column, channel in block, with groups over kernel row, kernel
// column, channel of the group. 3x3 filters of stride 1 may be multiplied in Winograd's form instead (f16/winograd_form.h).
// Which of the two it is depends on the filter and the pictures' size, and nothing in a sum on threads, batch or
// neighbors. Bound against exact arithmetic: 1 fp16 ulp + K * 2^-24 * sum |x * w|.
// Taps outside the input are 0.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/status.h"
#include "kernels/conv/conv.h"

namespace rk::kernels {

struct ConvF16Params {
  ConvFilter filter;
  WeightOrder order = WeightOrder::kOihw;
  // Exactly one of the two is set.
  const uint16_t* weights_f16 = nullptr;
  const float* weights_f32 = nullptr;
  const float* bias = nullptr;  // per output channel; null: all 0
  int64_t output_pixels = 0;    // of all pictures, 0 where unknown: a hint how to pack

  Activation activation = Activation::kNone;  // before the residual
  float clip = 0;                             // upper bound of Activation::kClip
  bool has_residual = false;
  bool relu_after_add = false;
};

// Weights as [oc block][ic block][kernel.h][kernel.w][16 ic][16 oc]; with groups, depthwise too, as
// [oc block][kernel.h][kernel.w][channels of a group][16 oc], where each output channel has those of its own group; in fp32, or in fp16 where the variant of this CPU takes them so and no weight changes. Immutable after packing.
struct PackedConvF16 {
  ConvF16Params params;  // its pointers are null
  bool half = false;     // weights are fp16
  bool moderate = true;  // no weight is infinite, no number or beyond 2^96: they may be added up
  Buffer weights;
  Buffer bias;
};

Result<PackedConvF16> pack_conv_f16(const ConvF16Params& params);
// The weights that were packed, in params.order and the type they were given in.
void unpack_conv_f16(const PackedConvF16& packed, uint16_t* weights_f16);
void unpack_conv_f16(const PackedConvF16& packed, float* weights_f32);

// A few large ranges of units are faster than many: weights are read, or transformed, anew for each.
bool takes_large_ranges(const PackedConvF16& packed);

struct ConvF16Args {
  const PackedConvF16* packed = nullptr;
  ConvExtents extents;
  const uint16_t* input = nullptr;     // blocked
  const uint16_t* residual = nullptr;  // blocked, shape of the output; only if has_residual
  uint16_t* output = nullptr;          // blocked; may be `residual`, never `input`
  int64_t input_batch_stride = 0;      // elements; 0 means dense
  int64_t output_batch_stride = 0;
  // The input is [n][h][w][in_channels] without blocks; only where takes_interleaved_input().
  bool interleaved_input = false;
};
// The first layer's kernel reads pictures as callers have them.
bool takes_interleaved_input(const PackedConvF16& packed);

// One unit is one output row of one tile of 64 output channels, or of all tiles in tall pictures. Rows are innermost.
inline constexpr int32_t kConvF16Tile = 64;
int64_t conv_f16_units(const ConvF16Args& args);
void conv_f16(const ConvF16Args& args, IndexRange units);

}  // namespace rk::kernels
