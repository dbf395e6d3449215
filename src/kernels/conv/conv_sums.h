// SPDX-License-Identifier: Apache-2.0
// The sums of an int8 convolution and nothing after them: acc = sum x * (w + o[c]) as int32, on blocked activations. For
// layers whose later stages are not those of conv_i8 (lookup tables, slopes below zero, other shifts of the multiplier);
// the caller finishes the sums.
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
  ConvFilter filter_;
  int32_t zero_point_ = 0;
  int32_t tile_blocks_ = 0;  // input blocks in each tile's weights
  // w + o. Dense: [tile][block][tap][8][16 outputs][2 inputs]; depthwise: [tile][tap][16].
  std::vector<int16_t> weights_;
};

}  // namespace rk::kernels
