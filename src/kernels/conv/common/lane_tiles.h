// SPDX-License-Identifier: Apache-2.0
// Convolutions in bands (bands.h) for vector units of 128 and 256 bits: a few pixels by one block of 16 output channels.
// Written once for every instruction set and element type; `Isa` says how to
//   widen a stored pixel to the lanes of the scratch       Isa::widen
//   add kStep input channels of one pixel to its sums      Sums::add (dense), or Tile::add for several pixels at a time
//   add kTapStep taps of one pixel to its sums             Sums::add_taps (depthwise; these sums may lie in another order)
// and `Finish` where sums start and how they become output. Weights are packed as pack_lanes.h has them.
//
// Note: the including file defines RK_ISA_BEGIN and RK_ISA_END, the frame of its CPU, and everything
// here is in an unnamed namespace: two files may compile the same template for different CPUs. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/common/bands.h"
#include "kernels/conv/common/lane_limits.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int32_t kLanes = kHostBlock;
constexpr int32_t kLaneTileBlocks = kLaneTile / kLanes;

template <typename Isa>
struct LaneScratch {
  alignas(64) typename Isa::Lane pixels[kLaneScratchPixels][kLanes];
  // Sums between the chunks of a long sum.
  alignas(64) typename Isa::Sum acc[kLaneTileBlocks][kLaneBandPixels][Isa::kRow];
  BandPlaces<kLaneBandPixels> places;
  int32_t taps[kMaxLaneTaps + 1];  // offsets of a depthwise kernel's taps, one repeated
};

// The sums of a few pixels: each pixel's by themselves.
template <typename Isa, int kPixels>
struct PixelTile {
  using Sum = typename Isa::Sum;
  typename Isa::Sums sums[kPixels];

  void load(int p, const Sum* from) { sums[p].load(from); }
  void store(int p, Sum* to) const { sums[p].store(to); }
  // kStep channels from x[p] + at on.
  __attribute__((always_inline)) void add(const typename Isa::Lane* const (&x)[kPixels], int64_t at,
                                          const typename Isa::Weights& w) {
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) sums[p].add(x[p] + at, w);
  }
  // All channels of a block, for instructions that take an operand from a lane of a vector (Isa::Loaded, Sums::add_lane):
  // one load in place of kLoaded / kStep broadcasts. The order of the products is the same.
  __attribute__((always_inline)) void add_block(
      const typename Isa::Lane* const (&x)[kPixels], int64_t at,
      const typename Isa::Weight* weights) requires requires {
    typename Isa::Loaded;
  }
  {
#pragma GCC unroll 4
    for (int i = 0; i < kLanes; i += Isa::kLoaded) {
      typename Isa::Loaded loaded[kPixels];
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) loaded[p] = Isa::load(x[p] + at + i);
      add_lanes<0>(loaded, weights + i * kLanes);
    }
  }

 private:
  template <int kLane, typename Loaded>
  __attribute__((always_inline)) void add_lanes(const Loaded (&loaded)[kPixels],
                                                const typename Isa::Weight* weights) {
    const typename Isa::Weights w(weights + kLane * Isa::kStep * kLanes);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) sums[p].template add_lane<kLane>(loaded[p], w);
    if constexpr ((kLane + 1) * Isa::kStep < Isa::kLoaded) add_lanes<kLane + 1>(loaded, weights);
  }
};

// Isa::Tile where an instruction takes more than one pixel.
template <typename Isa, int kPixels>
struct TileOf {
  using Type = PixelTile<Isa, kPixels>;
};
template <typename Isa, int kPixels>
requires requires { typename Isa::template Tile<kPixels>; }
struct TileOf<Isa, kPixels> {
  using Type = typename Isa::template Tile<kPixels>;
};

template <typename Isa, typename Finish, typename Args>
class LaneConv {
 public:
  using Stored = typename Isa::Stored;
  using Lane = typename Isa::Lane;
  using Weight = typename Isa::Weight;
  using Sum = typename Isa::Sum;

  LaneConv(const Args& args, const Finish& finish, Lane border)
      : args_(args),
        finish_(finish),
        filter_(args.packed->params.filter),
        extents_(args.extents),
        border_(border),
        y_(axis_plan(filter_, true)),
        x_(axis_plan(filter_, false)),
        taps_(y_.kernel * x_.kernel),
        in_plane_(int64_t{extents_.in.h} * extents_.in.w * kLanes),
        out_plane_(int64_t{extents_.out.h} * extents_.out.w * kLanes),
        weights_(reinterpret_cast<const Weight*>(args.packed->weights.data())) {}

  void run(IndexRange units, LaneScratch<Isa>& scratch) const {
    const bool depthwise = filter_.depthwise();
    const BandLimits limits = {
        depthwise ? kLaneScratchPixels : kLaneBandPixels,
        depthwise
            ? kLaneScratchPixels
            : pixels_for_all_blocks(filter_, extents_, kLaneScratchPixels, kLaneBandPixels / 4)};
    for_each_band(filter_, extents_, {filter_, extents_, kLaneTile}, limits, units,
                  [&](const Band& band, TileRange tiles, int64_t n) {
                    if (!depthwise) {
                      dense_band(band, tiles, n, scratch);
                    } else if constexpr (Isa::kTapStep > 0) {
                      depthwise_band(band, tiles, n, scratch);
                    }
                  });
  }

  // What another way to sum needs of this one.
  const ConvFilter& filter() const { return filter_; }
  const Weight* weights() const { return weights_; }
  int64_t out_width() const { return extents_.out.w; }

  // Output and residual of one block, at the band's first pixel.
  struct Target {
    int64_t block;
    Stored* output;
    const Stored* residual;
  };
  Target target(const Band& band, int64_t n, int64_t block) const {
    const int64_t dense = channel_blocks(filter_.out_channels) * out_plane_;
    const int64_t stride = args_.output_batch_stride != 0 ? args_.output_batch_stride : dense;
    const int64_t at = block * out_plane_ + (band.oy * extents_.out.w + band.ox) * kLanes;
    const bool residual = args_.packed->params.has_residual;
    return {block, args_.output + n * stride + at,
            residual ? args_.residual + n * dense + at : nullptr};
  }
  void finish(const Target& to, const Sum* acc, int64_t pixel) const {
    const int64_t at = pixel * kLanes;
    finish_(acc, to.block, to.residual != nullptr ? to.residual + at : nullptr, to.output + at);
  }

  // Fills the scratch rows of one input block.
  void load_block(const Band& band, int64_t n, int32_t block, Lane (*to)[kLanes]) const {
    const int64_t dense = channel_blocks(filter_.in_channels) * in_plane_;
    const int64_t stride = args_.input_batch_stride != 0 ? args_.input_batch_stride : dense;
    const Stored* const plane = args_.input + n * stride + block * in_plane_;
    const int32_t lanes = lanes_of_block(filter_.in_channels, block);
    const int64_t top = y_.lead(band.oy, extents_.pad_before.h);
    const int64_t left = x_.lead(band.ox, extents_.pad_before.w);
    for (int64_t r = 0; r < band.scratch_rows; ++r) {
      const int64_t iy = y_.source(top + r, extents_.in.h);
      const Stored* const row = plane + iy * extents_.in.w * kLanes;
      if (x_.stuffing == 1 && iy >= 0 && lanes == kLanes) {
        const RowPart part = row_part(left, band.scratch_columns, extents_.in.w);
        for (int64_t i = 0; i < part.before; ++i) fill_border(*to++);
        const Stored* from = row + (left + part.before) * kLanes;
        for (int64_t i = 0; i < part.body; ++i, from += kLanes) Isa::widen(from, *to++);
        for (int64_t i = part.before + part.body; i < band.scratch_columns; ++i) fill_border(*to++);
        continue;
      }
      for (int64_t i = 0; i < band.scratch_columns; ++i, ++to) {
        const int64_t ix = iy < 0 ? -1 : x_.source(left + i, extents_.in.w);
        if (ix >= 0) {
          Isa::widen(row + ix * kLanes, *to);
        } else {
          fill_border(*to);
        }
        for (int32_t c = lanes; c < kLanes; ++c) (*to)[c] = 0;
      }
    }
  }
  void fill_border(Lane* to) const {
    for (int32_t c = 0; c < kLanes; ++c) to[c] = border_;
  }

 private:
  static constexpr int64_t kPartBytes = 16 << 10;

  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

  // One pass over loaded input blocks for one block of output channels.
  struct Pass {
    const Band& band;
    Target target;
    const Lane (*pixels)[kLanes];  // of the first input block
    int64_t blocks;
    int32_t last_lanes;  // channels of the last one
    const Weight* weights;
    const Sum* start;
    Sum (*acc)[Isa::kRow];
    bool first, last;  // of the sum
  };

  template <int kPixels>
  void sum_pixels(const Pass& pass, const BandPlaces<kLaneBandPixels>& places,
                  int64_t pixel) const {
    const Lane* x[kPixels];
    typename TileOf<Isa, kPixels>::Type tile;
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      x[p] = pass.pixels[places.scratch[pixel + p]];
      tile.load(p, pass.first ? pass.start : pass.acc[pixel + p]);
    }
    const Weight* weights = pass.weights;
    for (int64_t block = 0; block < pass.blocks; ++block) {
      const int32_t lanes = block + 1 == pass.blocks ? pass.last_lanes : kLanes;
      for (int64_t ky = 0; ky < y_.kernel; ++ky) {
        const int64_t row =
            block * pass.band.scratch_pixels() + y_.tap(ky) * pass.band.scratch_columns;
        for (int64_t kx = 0; kx < x_.kernel; ++kx, weights += kLanes * kLanes) {
          const int64_t at = (row + x_.tap(kx)) * kLanes;
          const auto add = [&](int32_t i) __attribute__((always_inline)) {
            tile.add(x, at + i, typename Isa::Weights(weights + i * kLanes));
          };
          if (lanes == kLanes) {
            if constexpr (requires { tile.add_block(x, at, weights); }) {
              tile.add_block(x, at, weights);
            } else {
#pragma GCC unroll 16
              for (int32_t i = 0; i < kLanes; i += Isa::kStep) add(i);
            }
          } else {
            for (int32_t i = 0; i < lanes; i += Isa::kStep) add(i);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) tile.store(p, pass.acc[pixel + p]);
    if (!pass.last) return;
    for (int p = 0; p < kPixels; ++p) {
      finish(pass.target, pass.acc[pixel + p], places.output[pixel + p]);
    }
  }

  // All pixels from `pixel` on: whole tiles, then ever smaller ones.
  template <int kPixels>
  void sum_band(const Pass& pass, const BandPlaces<kLaneBandPixels>& places, int64_t pixel) const {
    const int64_t end = pass.band.pixels();
    for (; pixel + kPixels <= end; pixel += kPixels) sum_pixels<kPixels>(pass, places, pixel);
    if constexpr (kPixels > 1) {
      if (pixel < end) sum_band<kPixels / 2>(pass, places, pixel);
    }
  }

  // The blocks of a tile of output channels over `count` input blocks from `begin` on, which are loaded.
  void sum_loaded(const Band& band, int32_t tile, int64_t n, int64_t begin, int64_t count,
                  LaneScratch<Isa>& scratch) const {
    const int64_t block_weights = taps_ * kLanes * kLanes;
    const int64_t tile_weights = max_tile_input_blocks(filter_, kLanes) * block_weights;
    const int32_t out_blocks = channel_blocks(filter_.out_channels);
    for (int32_t i = 0; i < kLaneTileBlocks && tile * kLaneTileBlocks + i < out_blocks; ++i) {
      const int32_t out = tile * kLaneTileBlocks + i;
      const BlockRange needed = tile_input_blocks(filter_, out, kLanes);
      const int64_t from = begin > needed.begin ? begin : needed.begin;
      const int64_t to = smaller(begin + count, needed.end);
      // In parts whose weights stay in the first-level cache while all pixels pass.
      const int64_t part = kPartBytes / (block_weights * static_cast<int64_t>(sizeof(Weight)));
      for (int64_t at = from; at < to;) {
        const int64_t end = part > 1 ? smaller(to, at + part) : at + 1;
        sum_band<Isa::kPixels>(
            {band, target(band, n, out), scratch.pixels + (at - begin) * band.scratch_pixels(),
             end - at, lanes_of_block(filter_.in_channels, static_cast<int32_t>(end - 1)),
             weights_ + out * tile_weights + (at - needed.begin) * block_weights,
             finish_.start(out), scratch.acc[i], at == needed.begin, end == needed.end},
            scratch.places, 0);
        at = end;
      }
    }
  }

  void dense_band(const Band& band, TileRange tiles, int64_t n, LaneScratch<Isa>& scratch) const {
    const int64_t chunk = kLaneScratchPixels / band.scratch_pixels();
    scratch.places.fill(band, y_.step, x_.step, extents_.out.w);
    for (int32_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const BlockRange blocks = tile_input_blocks(filter_, tile, kLaneTile);
      // Without groups all tiles read the same blocks: once loaded, they serve every tile.
      const bool loaded =
          tile > tiles.begin && filter_.groups == 1 && blocks.end - blocks.begin <= chunk;
      for (int64_t begin = blocks.begin; begin < blocks.end; begin += chunk) {
        const int64_t count = smaller(chunk, blocks.end - begin);
        for (int64_t i = 0; i < count && !loaded; ++i) {
          load_block(band, n, static_cast<int32_t>(begin + i),
                     scratch.pixels + i * band.scratch_pixels());
        }
        sum_loaded(band, tile, n, begin, count, scratch);
      }
    }
  }

  template <int kPixels>
  void depthwise_pixels(const Target& to, const Lane* from, const int32_t* taps,
                        int64_t pixel) const {
    typename Isa::Sums sums[kPixels];
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) sums[p].load_taps(finish_.start(to.block));
    const int64_t padded = (taps_ + Isa::kTapStep - 1) / Isa::kTapStep * Isa::kTapStep;
    const Weight* const weights = weights_ + to.block * padded * kLanes;
    for (int64_t tap = 0; tap < padded; tap += Isa::kTapStep) {
      const typename Isa::TapWeights w(weights + tap * kLanes);
#pragma GCC unroll 4
      for (int p = 0; p < kPixels; ++p)
        sums[p].add_taps(from + p * x_.step * kLanes, taps + tap, w);
    }
    alignas(64) Sum acc[kPixels][Isa::kRow];
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) sums[p].store_taps(acc[p]);
    for (int p = 0; p < kPixels; ++p) finish(to, acc[p], pixel + p);
  }

  void depthwise_band(const Band& band, TileRange tiles, int64_t n,
                      LaneScratch<Isa>& scratch) const {
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const int64_t row = y_.tap(tap / x_.kernel) * band.scratch_columns;
      scratch.taps[tap] = static_cast<int32_t>((row + x_.tap(tap % x_.kernel)) * kLanes);
    }
    scratch.taps[taps_] = 0;
    const int32_t end = static_cast<int32_t>(
        smaller(tiles.end * kLaneTileBlocks, channel_blocks(filter_.out_channels)));
    for (int32_t block = tiles.begin * kLaneTileBlocks; block < end; ++block) {
      load_block(band, n, block, scratch.pixels);
      const Target to = target(band, n, block);
      for (int64_t row = 0; row < band.rows; ++row) {
        const Lane* const from = scratch.pixels[row * y_.step * band.scratch_columns];
        int64_t i = 0;
        for (; i + 4 <= band.columns; i += 4)
          depthwise_pixels<4>(to, from + i * x_.step * kLanes, scratch.taps,
                              row * extents_.out.w + i);
        for (; i < band.columns; ++i)
          depthwise_pixels<1>(to, from + i * x_.step * kLanes, scratch.taps,
                              row * extents_.out.w + i);
      }
    }
  }

  const Args& args_;
  const Finish& finish_;
  const ConvFilter& filter_;
  const ConvExtents& extents_;
  const Lane border_;
  const AxisPlan y_, x_;
  const int64_t taps_;
  const int64_t in_plane_, out_plane_;  // elements
  const Weight* const weights_;
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
