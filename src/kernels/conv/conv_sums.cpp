// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv_sums.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/conv/common/blocking.h"

namespace rk::kernels {
namespace {

constexpr int32_t kLanes = kHostBlock;
constexpr int32_t kPixels = 8;

// Adds 16 inputs of each of `count` pixels times [8][16][2] weights.
void add_products(const int8_t* const* pixels, int32_t count, const int16_t* weights,
                  int32_t* sums) {
  for (int32_t p = 0; p < count; ++p) {
    int32_t* const to = sums + p * kLanes;
    for (int32_t i = 0; i < kLanes; i += 2) {
      const int16_t a = pixels[p][i], b = pixels[p][i + 1];
      const int16_t* const w = weights + i * kLanes;
      for (int32_t c = 0; c < kLanes; ++c) {
        to[c] += int32_t{a} * w[2 * c] + int32_t{b} * w[2 * c + 1];
      }
    }
  }
}

}  // namespace

Result<ConvSums> ConvSums::make(const ConvFilter& filter, WeightOrder order, const int8_t* weights,
                                const int16_t* offset, int32_t input_zero_point) {
  RK_TRY(check_conv_filter(filter));
  ConvSums out;
  out.filter_ = filter;
  out.zero_point_ = input_zero_point;
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const int64_t tiles = channel_blocks(filter.out_channels);
  const bool depthwise = filter.depthwise();
  out.tile_blocks_ = depthwise ? 0 : max_tile_input_blocks(filter, kLanes);
  const int64_t per_tile = depthwise ? taps * kLanes : out.tile_blocks_ * taps * kLanes * kLanes;
  const auto bytes = checked_mul(static_cast<uint64_t>(tiles), static_cast<uint64_t>(per_tile) * 2);
  if (!bytes || *bytes > kMaxObjectBytes) return out_of_memory("convolution: its weights exceed 1 GiB");
  out.weights_.resize(static_cast<size_t>(tiles * per_tile));
  for (int32_t c = 0; c < filter.out_channels; ++c) {
    const int32_t o = offset != nullptr ? offset[c] : 0;
    const int32_t tile = c / kLanes;
    const BlockRange blocks =
        depthwise ? BlockRange{} : tile_input_blocks(filter, tile, kLanes);
    const int32_t first_in = c / filter.out_per_group() * filter.in_per_group();
    int64_t magnitude = 0;
    for (int32_t i = 0; i < filter.in_per_group(); ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int32_t w = weights[plain_weight_index(filter, order, c, i, tap)] + o;
        if (w > INT16_MAX || w < INT16_MIN) {
          return unsupported(str("convolution: weight offset ", o, " of output channel ", c,
                                 " does not fit 16 bits; the file is damaged"));
        }
        magnitude += w < 0 ? -w : w;
        const int64_t in = first_in + i;
        const int64_t at =
            depthwise ? tap * kLanes + c % kLanes
                      : ((((in / kLanes - blocks.begin) * taps + tap) * (kLanes / 2) +
                          in % kLanes / 2) *
                             kLanes +
                         c % kLanes) *
                                2 +
                            in % 2;
        out.weights_[static_cast<size_t>(tile * per_tile + at)] = static_cast<int16_t>(w);
      }
    }
    if (magnitude * 128 > INT32_MAX) {
      return unsupported(str("convolution: the sums of output channel ", c, " can leave 32 bits"));
    }
  }
  return out;
}

void ConvSums::row(const int8_t* input, const ConvExtents& extents, int64_t n, int32_t tile,
                   int64_t oy, int32_t* sums) const {
  const ConvAxis y = y_axis(filter_, extents), x = x_axis(filter_, extents);
  const int64_t taps = int64_t{filter_.kernel.h} * filter_.kernel.w;
  const int64_t plane = int64_t{extents.in.h} * extents.in.w * kLanes;
  const int8_t* const picture = input + n * channel_blocks(filter_.in_channels) * plane;
  int8_t border[kLanes];
  std::memset(border, zero_point_, sizeof border);
  std::fill(sums, sums + int64_t{extents.out.w} * kLanes, 0);
  const auto pixel = [&](const int8_t* row_of, int64_t ox, int64_t kx) {
    const int64_t at = row_of != nullptr ? x.source(ox, kx) : -1;
    return at < 0 ? border : row_of + at * kLanes;
  };
  const auto row_of = [&](int32_t block, int64_t ky) -> const int8_t* {
    const int64_t at = y.source(oy, ky);
    return at < 0 ? nullptr : picture + block * plane + at * extents.in.w * kLanes;
  };
  if (filter_.depthwise()) {
    const int16_t* const weights = weights_.data() + tile * taps * kLanes;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int8_t* const from = row_of(tile, tap / filter_.kernel.w);
      for (int64_t ox = 0; ox < extents.out.w; ++ox) {
        const int8_t* const at = pixel(from, ox, tap % filter_.kernel.w);
        for (int32_t c = 0; c < kLanes; ++c)
          sums[ox * kLanes + c] += int32_t{at[c]} * weights[tap * kLanes + c];
      }
    }
    return;
  }
  const BlockRange blocks = tile_input_blocks(filter_, tile, kLanes);
  const int16_t* const weights = weights_.data() + tile * tile_blocks_ * taps * kLanes * kLanes;
  for (int64_t ox = 0; ox < extents.out.w; ox += kPixels) {
    const auto count = static_cast<int32_t>(std::min<int64_t>(kPixels, extents.out.w - ox));
    for (int32_t block = blocks.begin; block < blocks.end; ++block) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int8_t* const from = row_of(block, tap / filter_.kernel.w);
        const int8_t* pixels[kPixels];
        for (int32_t p = 0; p < count; ++p)
          pixels[p] = pixel(from, ox + p, tap % filter_.kernel.w);
        add_products(pixels, count,
                     weights + ((block - blocks.begin) * taps + tap) * kLanes * kLanes,
                     sums + ox * kLanes);
      }
    }
  }
}

}  // namespace rk::kernels
