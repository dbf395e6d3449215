// SPDX-License-Identifier: Apache-2.0
// Index arithmetic shared by the convolutions: where a tap reads, where a weight lies, which input
// blocks an output tile needs. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/conv.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {

// One axis of a convolution.
struct ConvAxis {
  int64_t in = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  bool transposed = false;

  // The input coordinate that `out` reads through `tap`, or -1 where there is none.
  int64_t source(int64_t out, int64_t tap) const {
    if (!transposed) {
      const int64_t at = out * stride - pad_before + tap * dilation;
      return at >= 0 && at < in ? at : -1;
    }
    const int64_t scaled = out + pad_before - tap * dilation;
    if (scaled < 0 || scaled % stride != 0) return -1;
    const int64_t at = scaled / stride;
    return at < in ? at : -1;
  }
};

inline ConvAxis y_axis(const ConvFilter& filter, const ConvExtents& extents) {
  return {extents.in.h, filter.stride.h, filter.dilation.h, extents.pad_before.h,
          filter.transposed};
}

inline ConvAxis x_axis(const ConvFilter& filter, const ConvExtents& extents) {
  return {extents.in.w, filter.stride.w, filter.dilation.w, extents.pad_before.w,
          filter.transposed};
}

// Where plain weights hold (output channel, input channel within the group, tap).
inline int64_t plain_weight_index(const ConvFilter& filter, WeightOrder order, int64_t out_channel,
                                  int64_t in_of_group, int64_t tap) {
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  if (order == WeightOrder::kOihw) {
    return (out_channel * filter.in_per_group() + in_of_group) * taps + tap;
  }
  const int64_t group = out_channel / filter.out_per_group();
  const int64_t in_channel = group * filter.in_per_group() + in_of_group;
  return (in_channel * filter.out_per_group() + out_channel % filter.out_per_group()) * taps + tap;
}

struct BlockRange {
  int32_t begin = 0;
  int32_t end = 0;
};

// The input blocks that the groups of output channels first..last (inclusive) read.
inline BlockRange input_blocks(const ConvFilter& filter, int32_t first, int32_t last) {
  const int32_t begin = first / filter.out_per_group() * filter.in_per_group();
  const int32_t end = (last / filter.out_per_group() + 1) * filter.in_per_group();
  return {begin / kHostBlock, channel_blocks(end)};
}

// The same for one tile of `tile` output channels, and the most any tile of the filter has.
inline BlockRange tile_input_blocks(const ConvFilter& filter, int32_t tile_index, int32_t tile) {
  const int32_t first = tile_index * tile;
  const int32_t end = first + tile < filter.out_channels ? first + tile : filter.out_channels;
  return input_blocks(filter, first, end - 1);
}

inline int32_t max_tile_input_blocks(const ConvFilter& filter, int32_t tile) {
  int32_t most = 0;
  for (int32_t i = 0; i * tile < filter.out_channels; ++i) {
    const BlockRange range = tile_input_blocks(filter, i, tile);
    if (range.end - range.begin > most) most = range.end - range.begin;
  }
  return most;
}

// A batch of single pixels under a kernel of one tap is a matrix product, and its pictures count as the rows of one.
inline bool is_matrix_product(const ConvFilter& f, const ConvExtents& e) {
  const auto one = [](Extent2 extent) { return extent.h == 1 && extent.w == 1; };
  return e.batch > 1 && one(e.in) && one(e.out) && one(f.kernel) && one(f.stride) &&
         f.groups == 1 && !f.transposed && e.pad_before.h == 0 && e.pad_before.w == 0;
}
inline ConvExtents counted_extents(const ConvFilter& f, const ConvExtents& e) {
  if (!is_matrix_product(f, e)) return e;
  return {1, {e.batch, 1}, {e.batch, 1}, {0, 0}};
}

// How the work of a convolution is counted: a unit is one output row of one tile of output channels or, where a picture
// has rows enough for every thread, of all tiles: then a kernel loads its input once for all of them.
struct ConvUnits {
  static constexpr int32_t kRowsEnough = 28;
  bool matrix_product;
  int64_t batch;
  int64_t height;
  int64_t tiles;     // of the filter
  int64_t together;  // tiles of one unit

  ConvUnits(const ConvFilter& filter, const ConvExtents& extents, int32_t tile)
      : matrix_product(is_matrix_product(filter, extents)),
        batch(matrix_product ? 1 : extents.batch),
        height(matrix_product ? extents.batch : extents.out.h),
        tiles((filter.out_channels + tile - 1) / tile),
        together(height >= kRowsEnough ? tiles : 1) {}

  int64_t count() const { return batch * (tiles / together) * height; }
  int64_t row(int64_t unit) const { return unit % height; }
  int64_t first_tile(int64_t unit) const { return unit / height % (tiles / together) * together; }
  int64_t picture(int64_t unit) const { return unit / height / (tiles / together); }
};

// Calls work(n, tile, oy) for each row of each tile of the units.
template <typename Work>
inline void for_each_row(const ConvUnits& units, IndexRange range, const Work& work) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const int64_t first = units.first_tile(unit);
    const int64_t row = units.row(unit);
    for (int64_t tile = first; tile < first + units.together; ++tile) {
      work(units.matrix_product ? row : units.picture(unit), static_cast<int32_t>(tile),
           units.matrix_product ? 0 : row);
    }
  }
}

inline int32_t lanes_of_block(int32_t channels, int32_t block) {
  const int32_t left = channels - block * kHostBlock;
  return left < kHostBlock ? left : kHostBlock;
}

}  // namespace rk::kernels
