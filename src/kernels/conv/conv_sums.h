// SPDX-License-Identifier: Apache-2.0
// The sums of an int8 convolution and nothing after them: acc = sum x * (w + o[c]) as int32, on blocked activations. For
// layers whose later stages are not those of conv_i8 (lookup tables, slopes below zero, other shifts of the multiplier);
// the caller finishes the sums, by lookup tables with LookupFinish.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "kernels/conv/conv.h"

namespace rk::kernels {

class ConvSums {
 public:
  // Weights are plain; offset is per output channel, null: 0. kUnsupported when a sum could leave int32.
  static Result<ConvSums> make(const ConvFilter& filter, WeightOrder order, const int8_t* weights,
                               const int16_t* offset, int32_t input_zero_point);

  // Sums of output row `oy` of picture `n` for 16 channels from 16 * tile on: [out.w][16].
  void row(const int8_t* input, const ConvExtents& extents, int64_t n, int32_t tile, int64_t oy,
           int32_t* sums) const;

 private:
  void pack_bytes(WeightOrder order, const int8_t* weights, const int16_t* offset);

  ConvFilter filter_;
  int32_t zero_point_ = 0;
  int32_t tile_blocks_ = 0;  // input blocks in each tile's weights
  // w + o. Dense: [tile][block][tap][8][16 outputs][2 inputs]; depthwise: [tile][tap][16].
  std::vector<int16_t> weights_;
  // Where the CPU multiplies bytes and there are no groups: w + 128 as [tile][block][tap][4][16 outputs][4 inputs], 0 in
  // lanes that belong to no channel, and o - 128 per output channel, which meets the sum of the inputs.
  std::vector<uint8_t> bytes_;
  std::vector<int32_t> byte_offset_;
};

// One multiplication of conv_sums: adds 16 inputs of each of `count` (at most 8) pixels times [8][16][2] weights.
void add_products__generic(const int8_t* const* pixels, int32_t count, const int16_t* weights,
                           int32_t* sums);

// All multiplications of up to 8 pixels with the weights of one tile, in bytes.
struct ByteProducts {
  const int8_t* const* pixels = nullptr;  // [step][8]; a step is one block of inputs and one tap
  int64_t steps = 0;
  int64_t taps = 1;              // steps of one block
  int32_t last_lanes = 16;       // inputs of the last block
  const uint8_t* weights = nullptr;  // [step][4][16][4]
  const int32_t* offset = nullptr;   // 16
  int32_t count = 8;
  int32_t* sums = nullptr;  // [count][16], written
};

// The stages of program::LookupStage between the bias and the output, as vectors compute them. All numbers are exact:
// |sum + bias| < 2^32, multipliers are 16 bits.
struct LookupFinish {
  const double* bias = nullptr;  // per output channel, rounded up to 16
  const double* multiplier = nullptr;
  double first_scale = 1;  // 2^-multiplier_shift
  double index_multiplier = 1, index_addend = 0, index_scale = 1;
  int32_t start = 0, end = 0, entry_shift = 0;
  const uint32_t* pairs = nullptr;  // entry i and, in the high half, i + 1, of both tables as one
  double below = 0, above = 0;
  double output_scale = 1;
  int32_t zero_point = 0;
};

#if defined(__x86_64__)
void byte_products__avx512vnni(const ByteProducts& args);
// `pixels` times 16 channels from 16 * tile on.
void lookup_finish__avx512vnni(const LookupFinish& stages, const int32_t* sums, int64_t pixels,
                               int32_t tile, int8_t* output);
#endif

}  // namespace rk::kernels
