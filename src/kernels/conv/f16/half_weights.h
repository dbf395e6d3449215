// SPDX-License-Identifier: Apache-2.0
// Which fp16 convolutions keep their weights packed as fp16: where reading them takes longer than widening them again and
// again. And which read pictures as callers have them. Private to kernels/conv.
#pragma once

#include "kernels/conv/common/bands.h"
#include "kernels/conv/conv_f16.h"

namespace rk::kernels {

// conv_f16 where packed->half; there is a variant of it, or nothing is packed so.
decltype(conv_f16) conv_f16_half;

// Widened input of one band in pixels of 16 channels: 400 KiB of the second-level cache.
inline constexpr int64_t kHalfScratchPixels = 6400;

// Lanes of several groups in one vector would meet each other's infinities: the generic kernel keeps them apart.
inline bool takes_dense_tiles(const ConvFilter& filter) {
  return filter.groups == 1 && fits_bands(filter, kHalfScratchPixels);
}

// Whether reading half the bytes is worth widening the weights for every tile of pixels, which is all but free beside the
// multiply-adds: where there are few pixels to share them, and where they are so many that the second-level cache does not
// hold them. Narrow tiles lose.
inline bool wants_half_weights(const ConvFilter& filter, int64_t output_pixels) {
  constexpr int64_t kFewPixels = 128, kManyWeights = 64 << 10, kManyChannels = 32;
  const int64_t weights =
      int64_t{filter.in_channels} * filter.out_channels * filter.kernel.h * filter.kernel.w;
  return output_pixels > 0 && (output_pixels <= kFewPixels || weights >= kManyWeights) &&
         filter.in_channels > kManyChannels && filter.out_channels > kManyChannels;
}

// Filters of few input channels, whose widened input lies without gaps and is summed a kernel row at a time.
inline constexpr int32_t kFewChannels = 4;
inline constexpr int64_t kFewWeights = 32768;
inline bool is_few(const ConvFilter& f) {
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  return f.in_channels <= kFewChannels && taps > 1 && takes_dense_tiles(f) && !f.transposed &&
         f.dilation.w == 1 &&
         taps * f.in_channels * channel_blocks(f.out_channels) * kHostBlock <= kFewWeights;
}

}  // namespace rk::kernels
