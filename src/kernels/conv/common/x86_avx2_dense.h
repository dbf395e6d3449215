// SPDX-License-Identifier: Apache-2.0
// Convolutions without groups with AVX2, fp16 and int8: a band's input is widened to scratch once, then tiles of 6 pixels by
// 16 output channels are summed in 12 registers. Kernels of one tap that read nothing but pixels of the picture, and matrix
// products, take their pixels as one long row. `Kernel` says what differs:
//   Stored, Lane, Weight, Sum   elements of activations, of scratch, of packed weights, of sums
//   Vector, load, store         eight sums
//   kStep                       input channels that one instruction adds up
//   widen, widen4               16 stored elements to lanes, and the first four
//   spread, weights, add        kStep lanes to all, eight channels of weights, sum += x * w
//   Finish                      start(block) of sums, and tile(...), which makes output of the sums of a tile
//   kTotals                     Finish may ask for the sums of the inputs of each pixel (needs_totals()); Kernel then has
//                               add_parts, the sums of some lanes of pixels, and row_total, of a row of bytes
// Weights are packed as [oc block][ic block][kernel.h][kernel.w][16 / kStep][16 oc][kStep ic], 0 where there is no channel.
//
// Note: padding lanes of the input may hold infinities; with kStep 1 they meet no weight. The including file defines
// RK_ISA_BEGIN and RK_ISA_END for AVX2. Private to kernels/conv.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/conv/common/avx2_dense_form.h"
#include "kernels/conv/common/bands.h"
#include "kernels/thread_scratch.h"

RK_ISA_BEGIN

namespace rk::kernels::avx2_dense {
namespace {

constexpr int32_t kLanes = kHostBlock;
constexpr int32_t kTile = 64;       // output channels of a unit
constexpr int32_t kMostPixels = 6;  // of a tile
constexpr int64_t kBandPixels = 192;
constexpr int64_t kFewBandPixels = 512;  // where channels are few
constexpr int64_t kFewPixels = 48;       // a smaller band would read the weights too often
constexpr int64_t kTileBlocks = kTile / kLanes;
constexpr int64_t kStepWeights = kLanes * kLanes;  // a step is one tap of one input block
constexpr int64_t kPartBytes =
    16 << 10;  // of weights, which stay in the first-level cache while all pixels pass

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

template <typename Kernel>
struct Scratch {
  alignas(64) typename Kernel::Lane pixels[kScratchPixels][kLanes];
  // Sums between the parts of a long sum; where channels are few, weights without gaps.
  union {
    alignas(64) typename Kernel::Sum acc[kTileBlocks][kBandPixels][kLanes];
    alignas(64) typename Kernel::Weight few_weights[kFewWeights];
  };
  int64_t source[kBandPixels];                           // of pixels that lie in one long row
  int32_t parts[Kernel::kTotals ? kScratchPixels : 1];   // sums of the lanes of scratch pixels
  int32_t totals[Kernel::kTotals ? kFewBandPixels : 1];  // of all inputs of output pixels
  BandPlaces<kFewBandPixels> places;
  int32_t step_offset[kScratchPixels];  // lanes from a pixel's place to what a step reads
};

// Outputs of a tile.
template <typename Stored>
struct Target {
  const int32_t* places;   // of the band's output pixels
  const int32_t* totals;   // of the inputs of each; null: not asked for
  int64_t block;           // the first one
  const Stored* residual;  // of it, at the band's first pixel; null: none
  Stored* output;
  int64_t out_pixel, residual_pixel, out_plane;  // elements
};

// One pass over some steps for a block of output channels, or for several where pixels are few.
template <typename Kernel>
struct Pass {
  const typename Kernel::Finish& finish;
  const Scratch<Kernel>& scratch;
  int64_t pixel_lanes;  // of scratch
  const int32_t* step_offset;
  int64_t full_steps, steps;               // the first ones have all 16 channels
  int32_t last_lanes;                      // channels of the others
  const typename Kernel::Weight* weights;  // of the first block
  int64_t last_weights;                    // of one of the last steps
  int64_t next_block;                      // weights to those of the next block
  typename Kernel::Sum (*acc)[kLanes];     // of pixel 0
  bool first, last;                        // of the sum
  // Bytes of the next part of the weights that a step of each tile asks for: the first tiles ask for all of it. The first
  // tile of that part would wait for memory otherwise, and where pictures are small there are few more.
  static constexpr int64_t kStepBytes = kStepWeights * int64_t{sizeof(typename Kernel::Weight)};
  static constexpr int64_t kAheadBytes = kStepBytes / 8 < 64 ? 64 : kStepBytes / 8;
  const char* ahead(int64_t pixel) const {
    const int64_t at = pixel / kMostPixels * steps * kAheadBytes, bytes = steps * kStepBytes;
    return reinterpret_cast<const char*>(weights) + (at < bytes ? bytes + at : 0);
  }
  Target<typename Kernel::Stored> target;
};

template <typename Kernel, int kPixels, int kBlocks>
inline __attribute__((always_inline)) void add_lane(
    const typename Kernel::Lane* const (&x)[kPixels], int64_t at,
    const typename Kernel::Weight* weights, int64_t next_block,
    typename Kernel::Vector (&sum)[kPixels][kBlocks * 2]) {
#pragma GCC unroll 4
  for (int b = 0; b < kBlocks; ++b) {
    const auto w0 = Kernel::weights(weights + b * next_block);
    const auto w1 = Kernel::weights(weights + b * next_block + 8 * Kernel::kStep);
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
      const auto v = Kernel::spread(x[p] + at);
      Kernel::add(sum[p][2 * b], v, w0);
      Kernel::add(sum[p][2 * b + 1], v, w1);
    }
  }
}

// kRow: the last lanes of a step, where there are no others; 0: as the pass says.
template <typename Kernel, int kPixels, int kBlocks, int kRow = 0>
__attribute__((noinline)) void sum_tile(const Pass<Kernel>& pass, int64_t pixel) {
  constexpr int kStep = Kernel::kStep;
  const typename Kernel::Lane* x[kPixels];
  typename Kernel::Vector sum[kPixels][kBlocks * 2];
#pragma GCC unroll 6
  for (int p = 0; p < kPixels; ++p)
    x[p] = pass.scratch.pixels[0] + pass.scratch.places.scratch[pixel + p] * pass.pixel_lanes;
  if (pass.first) {
#pragma GCC unroll 8
    for (int v = 0; v < kBlocks * 2; ++v) {
      const auto start = Kernel::load(pass.finish.start(pass.target.block + v / 2) + v % 2 * 8);
#pragma GCC unroll 6
      for (int p = 0; p < kPixels; ++p) sum[p][v] = start;
    }
  } else {
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kBlocks * 2; ++v)
        sum[p][v] = Kernel::load(pass.acc[v / 2 * kBandPixels + pixel + p] + v % 2 * 8);
    }
  }
  const typename Kernel::Weight* weights = pass.weights;
  const int32_t *offset = pass.step_offset, *const full = offset + pass.full_steps;
  const int32_t* const end = offset + pass.steps;
  const int64_t next_block = pass.next_block;
  if constexpr (kRow != 0) {
    for (; offset < end; ++offset, weights += pass.last_weights) {
      const int64_t at = *offset;
#pragma GCC unroll 21
      for (int lane = 0; lane < kRow; lane += kStep)
        add_lane<Kernel, kPixels, kBlocks>(x, at + lane, weights + lane * kLanes, next_block, sum);
    }
  } else {
    const char* ahead = pass.ahead(pixel);
    for (; offset < full; ++offset, weights += kStepWeights) {
      const int64_t at = *offset;
#pragma GCC unroll 2
      for (int64_t line = 0; line < Pass<Kernel>::kAheadBytes; line += 64)
        __builtin_prefetch(ahead + line);
      ahead += Pass<Kernel>::kAheadBytes;
#pragma GCC unroll 16
      for (int lane = 0; lane < kLanes; lane += kStep)
        add_lane<Kernel, kPixels, kBlocks>(x, at + lane, weights + lane * kLanes, next_block, sum);
    }
    const int32_t lanes = pass.last_lanes;
    for (; offset < end; ++offset, weights += pass.last_weights) {
      const int64_t at = *offset;
#pragma GCC unroll 4
      for (int32_t lane = 0; lane < lanes; lane += kStep)
        add_lane<Kernel, kPixels, kBlocks>(x, at + lane, weights + lane * kLanes, next_block, sum);
    }
  }
  if (pass.last) {
    pass.finish.tile(sum, pass.target, pixel);
    return;
  }
#pragma GCC unroll 6
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < kBlocks * 2; ++v)
      Kernel::store(pass.acc[v / 2 * kBandPixels + pixel + p] + v % 2 * 8, sum[p][v]);
  }
}

// All pixels of a band in tiles of about equal size: each reads all weights.
template <int kRow = 0, typename Kernel>
void sum_pixels(const Pass<Kernel>& pass, int64_t pixels) {
  int64_t pixel = 0;
  for (int64_t tiles = (pixels + kMostPixels - 1) / kMostPixels; tiles > 0; --tiles) {
    const int64_t size = (pixels - pixel + tiles - 1) / tiles;
    switch (size) {
      case 6:
        sum_tile<Kernel, 6, 1, kRow>(pass, pixel);
        break;
      case 5:
        sum_tile<Kernel, 5, 1, kRow>(pass, pixel);
        break;
      case 4:
        sum_tile<Kernel, 4, 1>(pass, pixel);
        break;
      case 3:
        sum_tile<Kernel, 3, 1>(pass, pixel);
        break;
      case 2:
        sum_tile<Kernel, 2, 1>(pass, pixel);
        break;
      default:
        sum_tile<Kernel, 1, 1>(pass, pixel);
    }
    pixel += size;
  }
}

// Up to three pixels, which leave room for the sums of more channels.
template <typename Kernel>
void sum_few_pixels(const Pass<Kernel>& pass, int64_t pixels, int64_t blocks) {
  if (pixels == 1) {
    blocks == 4   ? sum_tile<Kernel, 1, 4>(pass, 0)
    : blocks == 3 ? sum_tile<Kernel, 1, 3>(pass, 0)
                  : sum_tile<Kernel, 1, 2>(pass, 0);
  } else {
    pixels == 2 ? sum_tile<Kernel, 2, 2>(pass, 0) : sum_tile<Kernel, 3, 2>(pass, 0);
  }
}
inline int64_t blocks_together(int64_t pixels) { return pixels == 1 ? 4 : pixels <= 3 ? 2 : 1; }

// Widens the pixels that a band reads of one input block, border written out.
template <typename Kernel>
void load_block(const ConvFilter& filter, const ConvExtents& extents, const Band& band,
                const typename Kernel::Stored* plane, typename Kernel::Lane border,
                typename Kernel::Lane (*to)[kLanes]) {
  const AxisPlan y = axis_plan(filter, true), x = axis_plan(filter, false);
  const int64_t top = y.lead(band.oy, extents.pad_before.h);
  const int64_t left = x.lead(band.ox, extents.pad_before.w);
  const auto fill = [&](int64_t pixels) {
    for (int64_t i = 0; i < pixels; ++i, ++to) {
      for (int32_t c = 0; c < kLanes; ++c) (*to)[c] = border;
    }
  };
  for (int64_t r = 0; r < band.scratch_rows; ++r) {
    const int64_t iy = y.source(top + r, extents.in.h);
    const auto* const row = plane + iy * extents.in.w * kLanes;
    if (iy < 0) {
      fill(band.scratch_columns);
    } else if (x.stuffing == 1) {
      const RowPart part = row_part(left, band.scratch_columns, extents.in.w);
      fill(part.before);
      const auto* from = row + (left + part.before) * kLanes;
      for (int64_t i = 0; i < part.body; ++i, from += kLanes) Kernel::widen(from, *to++);
      fill(band.scratch_columns - part.before - part.body);
    } else {
      for (int64_t i = 0; i < band.scratch_columns; ++i) {
        const int64_t ix = x.source(left + i, extents.in.w);
        ix >= 0 ? Kernel::widen(row + ix * kLanes, *to++) : fill(1);
      }
    }
  }
}

template <typename Kernel, typename Args>
class DenseConv {
 public:
  using Stored = typename Kernel::Stored;
  using Lane = typename Kernel::Lane;
  using Weight = typename Kernel::Weight;

  // `border`: what taps outside the picture read.
  DenseConv(const Args& args, const typename Kernel::Finish& finish, Lane border,
            Scratch<Kernel>& scratch)
      : args_(args),
        filter_(args.packed->params.filter),
        finish_(finish),
        border_(border),
        scratch_(scratch),
        units_(filter_, args.extents, kTile),
        extents_(args.extents),
        y_(axis_plan(filter_, true)),
        x_(axis_plan(filter_, false)),
        taps_(y_.kernel * x_.kernel),
        in_blocks_(channel_blocks(filter_.in_channels)),
        out_blocks_(channel_blocks(filter_.out_channels)),
        in_plane_(int64_t{extents_.in.h} * extents_.in.w * kLanes),
        out_plane_(int64_t{extents_.out.h} * extents_.out.w * kLanes),
        in_stride_(args.input_batch_stride != 0 ? args.input_batch_stride
                   : args.interleaved_input
                       ? int64_t{extents_.in.h} * extents_.in.w * filter_.in_channels
                       : in_blocks_ * in_plane_),
        out_stride_(args.output_batch_stride != 0 ? args.output_batch_stride
                                                  : out_blocks_ * out_plane_),
        few_(few_channels(filter_)),
        totals_(wants_totals(finish)),
        weights_(reinterpret_cast<const Weight*>(args.packed->weights.data())) {
    static_assert(sizeof(Scratch<Kernel>) <= ThreadScratch::kBytes);
  }

  void run(IndexRange units) {
    if (units_.matrix_product || is_points()) return run_points(units);
    BandLimits limits = {kBandPixels, kScratchPixels, true};
    if (few_) {
      gather_few_weights();
      // Rows of lanes without gaps, and what the last store of a row writes beyond it.
      limits = {kFewBandPixels, kScratchPixels * kLanes / kFewChannels - kLanes, true};
    } else {
      limits.scratch_pixels = pixels_for_all_blocks(filter_, extents_, kScratchPixels, kFewPixels);
    }
    for_each_band(filter_, extents_, units_, limits, units,
                  [&](const Band& band, TileRange tiles, int64_t n) {
                    few_ ? few_band(band, tiles, n) : dense_band(band, tiles, n);
                  });
  }

 private:
  static bool wants_totals(const typename Kernel::Finish& finish) {
    if constexpr (Kernel::kTotals) return finish.needs_totals();
    return false;
  }

  // Every output pixel reads one input pixel.
  bool is_points() const {
    const auto inside = [](int32_t in, int32_t out, int32_t stride) {
      return int64_t{out - 1} * stride < in;
    };
    return taps_ == 1 && !filter_.transposed && extents_.pad_before == Extent2{0, 0} &&
           inside(extents_.in.h, extents_.out.h, filter_.stride.h) &&
           inside(extents_.in.w, extents_.out.w, filter_.stride.w);
  }

  // Where a band's output begins.
  struct Place {
    int64_t output, residual;  // elements
    int64_t out_pixel, residual_pixel;
  };
  Place place_of(const Band& band, int64_t n) const {
    const int64_t at = (band.oy * extents_.out.w + band.ox) * kLanes;
    return {n * out_stride_ + at, n * out_blocks_ * out_plane_ + at, kLanes, kLanes};
  }

  Pass<Kernel> pass_of(const Place& place, int64_t block) const {
    const int64_t at = block * out_plane_;
    const Stored* const residual =
        args_.packed->params.has_residual ? args_.residual + place.residual + at : nullptr;
    return {finish_,
            scratch_,
            kLanes,
            nullptr,
            0,
            0,
            0,
            nullptr,
            kStepWeights,
            in_blocks_ * taps_ * kStepWeights,
            scratch_.acc[block % kTileBlocks],
            true,
            true,
            {scratch_.places.output, totals_ ? scratch_.totals : nullptr, block, residual,
             args_.output + place.output + at, place.out_pixel, place.residual_pixel, out_plane_}};
  }

  // Steps begin..end, whose input is held, for the blocks of one tile of output channels.
  void sum_held(int64_t pixels, const Place& place, int64_t tile, int64_t begin,
                int64_t end) const {
    constexpr int64_t kPartSteps = kPartBytes / (kStepWeights * int64_t{sizeof(Weight)});
    const int64_t all = in_blocks_ * taps_;
    const int64_t full = int64_t{filter_.in_channels / kLanes} * taps_;
    const int64_t last_block = smaller((tile + 1) * kTileBlocks, out_blocks_);
    const int64_t together = blocks_together(pixels);
    for (int64_t block = tile * kTileBlocks; block < last_block;) {
      const int64_t blocks = smaller(together, last_block - block);
      Pass<Kernel> pass = pass_of(place, block);
      const int64_t part = even_part(end - begin, kPartSteps);
      for (int64_t step = begin; step < end; step += part) {
        const int64_t stop = smaller(step + part, end);
        pass.step_offset = scratch_.step_offset + (step - begin);
        pass.steps = stop - step;
        pass.full_steps = stop <= full ? pass.steps : full > step ? full - step : 0;
        pass.last_lanes = filter_.in_channels % kLanes;
        pass.weights = weights_ + block * pass.next_block + step * kStepWeights;
        pass.first = step == 0;
        pass.last = stop == all;
        blocks > 1 ? sum_few_pixels(pass, pixels, blocks) : sum_pixels(pass, pixels);
      }
      block += blocks;
    }
  }

  // Tiles of output channels over the input that `load` brings block by block, `each` scratch pixels of them.
  template <typename Load>
  void sum_tiles(int64_t pixels, int64_t each, const Place& place, TileRange tiles,
                 const Load& load) {
    const int64_t hold = smaller(kScratchPixels / each, in_blocks_);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      for (int64_t block = 0; block < in_blocks_; block += hold) {
        const int64_t end = smaller(block + hold, in_blocks_);
        for (int64_t i = block; i < end && (hold < in_blocks_ || tile == tiles.begin); ++i) {
          load(i, scratch_.pixels + (i - block) * each);
          if (totals_ && tile == tiles.begin)
            add_parts(i, each, scratch_.pixels + (i - block) * each);
        }
        if (totals_ && tile == tiles.begin && end == in_blocks_) add_taps(pixels);
        sum_held(pixels, place, tile, block * taps_, end * taps_);
      }
    }
  }

  // The channels of one input block go to the sums of the scratch pixels.
  void add_parts(int64_t block, int64_t count, const Lane (*pixels)[kLanes]) {
    if constexpr (Kernel::kTotals) {
      if (block == 0) {
        for (int64_t i = 0; i < count; ++i) scratch_.parts[i] = 0;
      }
      const int32_t lanes = lanes_of_block(filter_.in_channels, static_cast<int32_t>(block));
      Kernel::add_parts(pixels, count, lanes, scratch_.parts);
    }
  }
  // From scratch pixels to what output pixels read; the first steps lie in the first block.
  void add_taps(int64_t pixels) {
    if constexpr (Kernel::kTotals) {
      for (int64_t p = 0; p < pixels; ++p) {
        const int32_t* const from = scratch_.parts + scratch_.places.scratch[p];
        int32_t total = 0;
        for (int64_t tap = 0; tap < taps_; ++tap) total += from[scratch_.step_offset[tap] / kLanes];
        scratch_.totals[p] = total;
      }
    }
  }

  void fill_steps(int64_t each, int64_t columns) {
    const int64_t hold = smaller(kScratchPixels / each, in_blocks_);
    int32_t* to = scratch_.step_offset;
    for (int64_t block = 0; block < hold; ++block) {
      for (int64_t ky = 0; ky < y_.kernel; ++ky) {
        const int64_t row = block * each + y_.tap(ky) * columns;
        for (int64_t kx = 0; kx < x_.kernel; ++kx)
          *to++ = static_cast<int32_t>((row + x_.tap(kx)) * kLanes);
      }
    }
  }

  void dense_band(const Band& band, TileRange tiles, int64_t n) {
    scratch_.places.fill(band, y_.step, x_.step, extents_.out.w);
    fill_steps(band.scratch_pixels(), band.scratch_columns);
    const Stored* const image = args_.input + n * in_stride_;
    sum_tiles(band.pixels(), band.scratch_pixels(), place_of(band, n), tiles,
              [&](int64_t block, Lane(*to)[kLanes]) {
                load_block<Kernel>(filter_, extents_, band, image + block * in_plane_, border_, to);
              });
  }

  // Pixels of all rows in turn, or the rows of a matrix.
  void run_points(IndexRange units) {
    const int64_t all = kScratchPixels / in_blocks_;
    const int64_t most = all < kFewPixels ? kBandPixels : smaller(all, kBandPixels);
    for_each_region(units_, units_.height, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      const int64_t width = units_.matrix_product ? 1 : extents_.out.w;
                      const int64_t end = (oy + rows) * width;
                      const int64_t part = even_part(rows * width, most);
                      for (int64_t at = oy * width; at < end; at += part)
                        points(n, tiles, at, smaller(part, end - at));
                    });
  }

  void points(int64_t n, TileRange tiles, int64_t first, int64_t pixels) {
    Place place = {n * out_stride_ + first * kLanes, n * out_blocks_ * out_plane_ + first * kLanes,
                   kLanes, kLanes};
    if (units_.matrix_product) {
      place = {first * out_stride_, first * out_blocks_ * out_plane_, out_stride_,
               out_blocks_ * out_plane_};
    }
    for (int64_t i = 0; i < pixels; ++i)
      scratch_.places.scratch[i] = scratch_.places.output[i] = static_cast<int32_t>(i);
    find_sources(first, pixels);
    fill_steps(pixels, pixels);
    const Stored* const image = args_.input + (units_.matrix_product ? 0 : n * in_stride_);
    sum_tiles(pixels, pixels, place, tiles, [&](int64_t block, Lane(*to)[kLanes]) {
      const Stored* const plane = image + block * in_plane_;
      for (int64_t i = 0; i < pixels; ++i) Kernel::widen(plane + scratch_.source[i], to[i]);
    });
  }

  // Where pixels lie, in elements of a plane.
  void find_sources(int64_t first, int64_t pixels) {
    if (units_.matrix_product) {
      for (int64_t i = 0; i < pixels; ++i) scratch_.source[i] = (first + i) * in_stride_;
      return;
    }
    const int64_t down =
        (int64_t{filter_.stride.h} * extents_.in.w - int64_t{extents_.out.w} * filter_.stride.w) *
        kLanes;
    const int64_t y = first / extents_.out.w;
    int64_t x = first % extents_.out.w;
    int64_t at = (y * filter_.stride.h * extents_.in.w + x * filter_.stride.w) * kLanes;
    for (int64_t i = 0; i < pixels; ++i, at += int64_t{filter_.stride.w} * kLanes) {
      scratch_.source[i] = at;
      if (++x == extents_.out.w) x = 0, at += down;
    }
  }

  // Lanes of a kernel row, a multiple of kStep.
  int64_t row_lanes() const {
    constexpr int64_t kStep = Kernel::kStep;
    return (x_.kernel * filter_.in_channels + kStep - 1) / kStep * kStep;
  }

  // The weights of channels that exist, without gaps: [oc block][kernel.h][row / kStep][16 oc][kStep].
  void gather_few_weights() {
    constexpr int64_t kStep = Kernel::kStep;
    const int64_t channels = filter_.in_channels, row = row_lanes();
    Weight* to = scratch_.few_weights;
    for (int64_t i = 0; i < out_blocks_ * y_.kernel; ++i, to += row * kLanes) {
      for (int64_t lane = 0; lane < row; ++lane) {
        const int64_t tap = i * x_.kernel + lane / channels, c = lane % channels;
        const bool there = lane < x_.kernel * channels;
        const Weight* const from = weights_ + tap * kStepWeights + c / kStep * kStep * kLanes;
        for (int64_t oc = 0; oc < kLanes; ++oc) {
          to[lane / kStep * kStep * kLanes + oc * kStep + lane % kStep] =
              there ? from[oc * kStep + c % kStep] : Weight{0};
        }
      }
    }
  }

  // One step per row of the kernel.
  void few_band(const Band& band, TileRange tiles, int64_t n) {
    const int64_t channels = filter_.in_channels, row = row_lanes();
    scratch_.places.fill(band, y_.step, x_.step, extents_.out.w);
    for (int64_t ky = 0; ky < y_.kernel; ++ky) {
      scratch_.step_offset[ky] = static_cast<int32_t>(y_.tap(ky) * band.scratch_columns * channels);
    }
    load_few(band, args_.input + n * in_stride_);
    if constexpr (Kernel::kTotals) {
      for (int64_t p = 0; totals_ && p < band.pixels(); ++p) {
        const Lane* const from = scratch_.pixels[0] + scratch_.places.scratch[p] * channels;
        int32_t total = 0;
        for (int64_t ky = 0; ky < y_.kernel; ++ky)
          total += Kernel::row_total(from + scratch_.step_offset[ky], x_.kernel * channels);
        scratch_.totals[p] = total;
      }
    }
    const int64_t end = smaller(tiles.end * kTileBlocks, out_blocks_);
    for (int64_t block = tiles.begin * kTileBlocks; block < end; ++block) {
      Pass<Kernel> pass = pass_of(place_of(band, n), block);
      pass.pixel_lanes = channels;
      pass.step_offset = scratch_.step_offset;
      pass.steps = y_.kernel;
      pass.last_lanes = static_cast<int32_t>(row);
      pass.last_weights = row * kLanes;
      pass.weights = scratch_.few_weights + block * y_.kernel * row * kLanes;
      switch (x_.kernel * channels) {  // kernels of 3, 6 and 7 columns on three colors
        case 9:
          sum_pixels<9>(pass, band.pixels());
          break;
        case 18:
          sum_pixels<18>(pass, band.pixels());
          break;
        case 21:
          sum_pixels<21>(pass, band.pixels());
          break;
        default:
          sum_pixels(pass, band.pixels());
      }
    }
  }
  // Any number of elements; what is too much is overwritten, or is the slack of the scratch.
  static void widen_all(const Stored* from, int64_t count, Lane* to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) Kernel::widen(from + i, to + i);
    if (i == count) return;
    Stored rest[kLanes] = {};
    std::memcpy(rest, from + i, static_cast<size_t>(count - i) * sizeof(Stored));
    Kernel::widen(rest, to + i);
  }
  void load_few(const Band& band, const Stored* image) {
    const int64_t channels = filter_.in_channels;
    const int64_t top = y_.lead(band.oy, extents_.pad_before.h);
    const int64_t left = x_.lead(band.ox, extents_.pad_before.w);
    Lane* to = scratch_.pixels[0];
    for (int64_t r = 0; r < band.scratch_rows; ++r) {
      const int64_t iy = y_.source(top + r, extents_.in.h);
      RowPart part = row_part(left, band.scratch_columns, extents_.in.w);
      if (iy < 0) part = {band.scratch_columns, 0};
      const auto fill = [&](int64_t pixels) {
        for (int64_t i = 0; i < pixels * channels; ++i) *to++ = border_;
      };
      fill(part.before);
      const int64_t first = iy * extents_.in.w + left + part.before;
      if (args_.interleaved_input) {
        widen_all(image + first * channels, part.body * channels, to);
        to += part.body * channels;
      } else {
        // Four lanes each; what is too much is overwritten by the next.
        const Stored* from = image + first * kLanes;
        for (int64_t i = 0; i < part.body; ++i, from += kLanes, to += channels)
          Kernel::widen4(from, to);
      }
      fill(band.scratch_columns - part.before - part.body);
    }
  }

  const Args& args_;
  const ConvFilter& filter_;
  const typename Kernel::Finish& finish_;
  const Lane border_;
  Scratch<Kernel>& scratch_;
  const ConvUnits units_;
  const ConvExtents& extents_;
  const AxisPlan y_, x_;
  const int64_t taps_, in_blocks_, out_blocks_;
  const int64_t in_plane_, out_plane_, in_stride_, out_stride_;  // elements
  const bool few_, totals_;
  const Weight* const weights_;
};

}  // namespace
}  // namespace rk::kernels::avx2_dense

RK_ISA_END
