// SPDX-License-Identifier: Apache-2.0
// Which filters x86_avx2_dense.h takes, and which of them have so few input channels that their scratch has no gaps.
// Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/common/bands.h"

namespace rk::kernels::avx2_dense {

inline constexpr int64_t kScratchPixels = 6400;  // of 16 lanes: within the second-level cache
inline bool takes(const ConvFilter& filter) {
  return filter.groups == 1 && fits_bands(filter, kScratchPixels);
}

// Filters of few input channels, whose scratch has no gaps: their sums take a row of the kernel at a time.
inline constexpr int32_t kFewChannels = 4;
inline constexpr int64_t kFewWeights = 32768;
inline bool few_channels(const ConvFilter& f) {
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  return f.in_channels <= kFewChannels && taps > 1 && takes(f) && !f.transposed &&
         f.dilation.w == 1 &&
         f.kernel.h * (int64_t{f.kernel.w} * f.in_channels + 1) * channel_blocks(f.out_channels) *
                 kHostBlock <=
             kFewWeights;
}

}  // namespace rk::kernels::avx2_dense
