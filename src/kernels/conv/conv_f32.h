// SPDX-License-Identifier: Apache-2.0
// float32 convolution on plain NCHW activations and plain weights, for the float evaluator: nothing
// is packed ahead.
//   y = bias + sum x * w
// The sum runs over input channel, kernel row, kernel column, starting at the bias: its order
// depends on the filter only. Taps outside the input are 0. Any groups, stride, dilation, padding;
// also transposed.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/conv/conv.h"

namespace rk::kernels {

struct ConvF32Args {
  ConvFilter filter;
  ConvExtents extents;
  WeightOrder order = WeightOrder::kOihw;
  const float* input = nullptr;    // [batch][in_channels][in.h][in.w]
  const float* weights = nullptr;  // see WeightOrder
  const float* bias = nullptr;     // [out_channels], or null
  float* output = nullptr;         // [batch][out_channels][out.h][out.w]
};

// One unit is a tile of the output of one group: at most 128 channels by 32 pixels, or one plane
// where groups have one channel each.
int64_t conv_f32_units(const ConvF32Args& args);
void conv_f32(const ConvF32Args& args, IndexRange units);

}  // namespace rk::kernels
