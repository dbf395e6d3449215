// SPDX-License-Identifier: Apache-2.0
// Weights of a float convolution stored in 8 or 4 bits (w8a16, w4a16, quantize_weight): integers, and a scale and zero
// point per output channel and group of weights. They are brought to float16 once, when the model is loaded.
//
// In a step: input 1 is the weight, dtype i8 or i4, plain OIHW (IOHW when transposed), two 4-bit values in a byte with
// the first in the low bits; input 4 is f32 [2, O, G]: G scales per output channel, then G zero points. A channel's weights
// in their order of storage are split into G runs of equal length, the last may be shorter.
#pragma once

#include <span>
#include <vector>

#include "program/program.h"

namespace rk::program {

struct NarrowWeights {
  DType dtype = DType::kI8;      // kI8 or kI4
  std::vector<uint8_t> bytes;    // packed
  int64_t groups = 1;            // per output channel
  std::vector<float> constants;  // [2, O, G]
};

struct NarrowSpec {
  int bits = 8;            // 8: asymmetric, 4: symmetric (as RK3576 has it)
  int64_t group = 0;       // weights that share a scale; 0: a whole channel
  bool per_layer = false;  // one scale for all channels; `group` is not looked at
};

// `channel_of` is the output channel of each weight.
NarrowWeights narrow_weights(std::span<const float> weights, std::span<const int32_t> channel_of,
                             int64_t channels, const NarrowSpec& spec);

// Bytes of `count` weights.
uint64_t narrow_size_bytes(DType dtype, int64_t count);

// The real numbers. All arguments may come from a file: sizes were checked by verify().
std::vector<float> widen_weights(DType dtype, ByteSpan bytes, std::span<const float> constants,
                                 std::span<const int32_t> channel_of, int64_t channels);

// The output channel of each weight of a convolution.
std::vector<int32_t> output_channels(const Shape& weight, const ConvParams& params,
                                     int64_t in_channels, int64_t out_channels);

}  // namespace rk::program
