// SPDX-License-Identifier: Apache-2.0
// conv_f16 with AVX-512. Kernels of one tap are the business of x86_avx512_f16_pointwise.cpp. Of others a band's input rows
// are widened to float32 scratch once, then tiles of 6 or 7 pixels by 64 output channels are summed by fused multiply-adds,
// in the order that conv_f16.h states, and narrowed once at the end. Weight is float, or uint16_t where weights are packed as
// fp16 and widened by each tile.
//
// Note: padding lanes of the input may hold infinities; they are never multiplied, not even by 0.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__avx512_6x64;
decltype(conv_f16_half) conv_f16_half__avx512_6x64;

}  // namespace rk::kernels

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

constexpr int32_t kTilePixels = 6;  // by kVectors: 24 sums, 4 vectors of weights, 1 of input
// Of one row, which needs no register for its input.
constexpr int32_t kMostPixels = 7, kFewest = 5;
constexpr int32_t kRun = 14;  // pixels of one or two vectors
constexpr int64_t kBandPixels = 224;
constexpr int64_t kFewBandPixels = 1024;  // where channels are few
constexpr int64_t kFewBandRows = 16;
constexpr int64_t kChunkWeightBytes = 384 << 10;  // that one pass over a band reads
constexpr int64_t kFewPixels = 48;                // a smaller band would read the weights too often

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
  union {
    alignas(64) float acc[kSumFloats];
    alignas(64) float few_weights[kSumFloats];  // where channels are few, and sums never wait
  };
  Ahead ahead;
  int64_t shape[3] = {};  // of the band that what follows was made for
  BandPlaces<kFewBandPixels + kFewBandRows * kRun> places;
  // Floats from a pixel's place to what a step reads; steps are counted from the first block in scratch on. One more, so
  // that the step after the last may be asked for.
  int32_t step_offset[kScratchPixels + 1];
  int32_t step_weight[kScratchPixels];  // weights from those of the first step on
  // The same of the steps that a tile at the border needs.
  int32_t inner_offset[kScratchPixels + 1];
  int32_t inner_weight[kScratchPixels];
};

// One pass over a chunk of input blocks for one tile of output channels. A step is one tap of one input block.
template <typename Weight>
struct Pass {
  const Context& c;
  const Band& band;
  Target target;
  const int32_t* step_offset;
  const int32_t* step_weight;
  int64_t full_steps, steps;  // the first ones have all 16 channels
  int32_t last_lanes;         // channels of the others
  const Weight* weights;      // of the first vector, at the first block in scratch
  int64_t next_vector;        // weights to those of the next vector
  const float* bias;
  float* acc;  // of pixel 0; pixels are kConvF16Tile apart
  bool first, last;
};

// Adds the products of one input channel: of pixel p with what lies at x[p] + at, or at x[0] + p * kSpacing + at.
template <int kSpacing, bool kNarrow, typename Weight, int kPixels, int kCount>
inline __attribute__((always_inline)) void add_lane(const float* const (&x)[kPixels], int64_t at,
                                                    const Weight* const (&weights)[kCount],
                                                    int64_t weight,
                                                    __m512 (&sum)[kPixels][kCount]) {
  __m512 w[kCount];
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) w[v] = load_wide(weights[v] + weight);
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p) {
    const float* const from = kSpacing == 0 ? x[p] : x[0] + p * kSpacing;
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      sum[p][v] = kNarrow && v == kCount - 1 ? fused_low(from[at], w[v], sum[p][v])
                                             : fused(from[at], w[v], sum[p][v]);
    }
  }
}

// kPixels pixels from number `pixel` on, by kCount vectors. kSpacing: floats of scratch from one to the next, so that one
// register reaches all; 0: they lie anywhere. kNarrow: the last vector has but 8 channels.
template <int kPixels, int kCount, int kSpacing, bool kNarrow = false, typename Weight>
__attribute__((noinline)) void sum_pixels(const Pass<Weight>& pass, const Scratch& scratch,
                                          int64_t pixel) {
  const Context& c = pass.c;
  const float* x[kPixels];
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p) {
    x[p] = kSpacing == 0 || p == 0
               ? scratch.pixels[0] + scratch.places.scratch[pixel + p] * c.pixel_floats
               : x[0] + p * kSpacing;
  }
  __m512 sum[kPixels][kCount];
  float* const acc = pass.acc + pixel * kConvF16Tile;
  if (pass.first) {
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) sum[p][v] = _mm512_load_ps(pass.bias + v * kLanes);
    }
  } else {
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        sum[p][v] = _mm512_load_ps(acc + p * kConvF16Tile + v * kLanes);
    }
  }
  if (pass.last && kSpacing != 0)
    pass.target.template ask<kPixels, kCount>(scratch.places.output[pixel]);
  const Weight* weights[kCount];
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) weights[v] = pass.weights + v * pass.next_vector;
  hide(weights);
  const int32_t* const offset = pass.step_offset;
  int64_t step = 0;
  for (; step < pass.full_steps; ++step) {
    // Kernels of one tap read a new line of each pixel in every step, in a pattern no prefetcher knows.
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
      _mm_prefetch(reinterpret_cast<const char*>(x[p] + offset[step + 1]), _MM_HINT_T0);
    }
    const int64_t at = offset[step], weight = pass.step_weight[step];
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane)
      add_lane<kSpacing, kNarrow>(x, at + lane, weights, weight + lane * kLanes, sum);
  }
  for (; step < pass.steps; ++step) {
    const int64_t at = offset[step], weight = pass.step_weight[step];
#pragma GCC unroll 4
    for (int32_t lane = 0; lane < pass.last_lanes; ++lane)
      add_lane<kSpacing, kNarrow>(x, at + lane, weights, weight + lane * kLanes, sum);
  }
  if (!pass.last) {
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        _mm512_store_ps(acc + p * kConvF16Tile + v * kLanes, sum[p][v]);
    }
    return;
  }
  const Target target = pass.target;
  if constexpr (kSpacing == 0) {
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p)
      target.finish(sum[p], 0, scratch.places.output[pixel + p], target.out_plane);
  } else {  // of one row
    target.finish_tile(sum, scratch.places.output[pixel]);
  }
}

// All pixels from `pixel` on that lie anywhere: whole tiles, then what is left.
template <int kPixels, int kCount, typename Weight>
void sum_rest(const Pass<Weight>& pass, Scratch& scratch, int64_t pixel, int64_t end) {
  for (; pixel + kPixels <= end; pixel += kPixels) {
    scratch.ahead.ask();
    sum_pixels<kPixels, kCount, 0>(pass, scratch, pixel);
  }
  if constexpr (kPixels > 1) {
    if (pixel < end)
      sum_rest<kPixels == kTilePixels ? 4 : kPixels / 2, kCount>(pass, scratch, pixel, end);
  }
}

// All pixels for one or two vectors, which leave room for the sums of kRun pixels but not for as many pointers.
template <int kCount>
void sum_runs(const Pass<float>& pass, bool narrow, Scratch& scratch) {
  const Band& band = pass.band;
  const int64_t spacing = pass.c.spacing();
  for (int64_t row = 0; row < band.rows; ++row) {
    const int64_t end = (row + 1) * band.columns;
    int64_t pixel = row * band.columns;
    const auto run = [&]<int kSpacing, bool kNarrow = false>() {
      for (; pixel + kRun <= end; pixel += kRun) {
        scratch.ahead.ask();
        sum_pixels<kRun, kCount, kSpacing, kNarrow>(pass, scratch, pixel);
      }
    };
    if (spacing == kLanes && narrow) run.template operator()<kLanes, true>();
    if (spacing == kLanes) run.template operator()<kLanes>();
    if (spacing == 2 * kLanes) run.template operator()<2 * kLanes>();
    if (spacing == 2 * 3) run.template operator()<2 * 3>();
    sum_rest<8, kCount>(pass, scratch, pixel, end);
  }
}

// What a pass does for pixels that see only a part of the taps: products of the border add nothing. Dilated kernels see
// little else at the edges of small pictures.
template <typename Weight>
class InnerTaps {
 public:
  InnerTaps(const Pass<Weight>& pass, Scratch& scratch) : all_(pass), part_(pass), to_(scratch) {}

  // The pass for `count` pixels of one row of the band.
  const Pass<Weight>& at(int64_t row, int64_t column, int64_t count) {
    const Context& c = all_.c;
    const int64_t oy = all_.band.oy + row, ox = all_.band.ox + column;
    const TapRange y = seeing_taps(c.y, oy, oy, c.extents.pad_before.h, c.extents.in.h);
    const TapRange x = seeing_taps(c.x, ox, ox + count - 1, c.extents.pad_before.w, c.extents.in.w);
    if (y.count() == c.y.kernel && x.count() == c.x.kernel) return all_;
    if (!made_ || !(y == y_) || !(x == x_)) make(y, x);
    return part_;
  }

 private:
  void make(TapRange y, TapRange x) {
    const int64_t kernel_w = all_.c.x.kernel, taps = all_.c.y.kernel * kernel_w;
    int64_t n = 0;
    for (int64_t step = 0; step < all_.steps; step += taps) {
      for (int64_t ky = y.begin; ky < y.end; ++ky) {
        for (int64_t kx = x.begin; kx < x.end; ++kx, ++n) {
          to_.inner_offset[n] = all_.step_offset[step + ky * kernel_w + kx];
          to_.inner_weight[n] = all_.step_weight[step + ky * kernel_w + kx];
        }
      }
    }
    to_.inner_offset[n] = 0;
    part_.step_offset = to_.inner_offset;
    part_.step_weight = to_.inner_weight;
    part_.steps = n;
    part_.full_steps = all_.full_steps / taps * y.count() * x.count();
    y_ = y;
    x_ = x;
    made_ = true;
  }

  const Pass<Weight>& all_;
  Pass<Weight> part_;
  Scratch& to_;
  TapRange y_ = {}, x_ = {};
  bool made_ = false;
};

// All pixels for four vectors: each row in tiles of about equal size, none of them small, for each reads all weights.
template <int kSpacing, typename Weight>
void sum_rows(const Pass<Weight>& all_taps, Scratch& scratch) {
  const Band& band = all_taps.band;
  InnerTaps<Weight> inner(all_taps, scratch);
  const int64_t all = (band.columns + kMostPixels - 1) / kMostPixels;
  int64_t pixel = 0;
  for (int64_t row = 0; row < band.rows; ++row) {
    const int64_t end = pixel + band.columns;
    for (int64_t tiles = all; tiles > 0; --tiles) {
      const int64_t size = (end - pixel + tiles - 1) / tiles;
      const Pass<Weight>& pass =
          all_taps.c.few ? all_taps : inner.at(row, pixel - row * band.columns, size);
      scratch.ahead.ask();
      switch (size) {
        case 7:
          sum_pixels<7, 4, kSpacing>(pass, scratch, pixel);
          break;
        case 6:
          sum_pixels<6, 4, kSpacing>(pass, scratch, pixel);
          break;
        default:
          sum_pixels<kFewest, 4, kSpacing>(pass, scratch, pixel);
      }
      pixel += size;
    }
  }
}

// Whether sum_rows has no smaller tiles.
bool suits_rows(int64_t columns) {
  return columns / ((columns + kMostPixels - 1) / kMostPixels) >= kFewest;
}

// The blocks of one input that lie in scratch.
struct Held {
  int64_t begin, end;
};

template <typename Weight>
void sum_tile(const Pass<Weight>& pass, int64_t vectors, Scratch& scratch) {
  const int64_t pixels = pass.band.pixels();
  if (vectors == 4) {
    const int64_t spacing = suits_rows(pass.band.columns) ? pass.c.spacing() : 0;
    if (spacing == kLanes) return sum_rows<kLanes>(pass, scratch);
    if (spacing == 2 * kLanes) return sum_rows<2 * kLanes>(pass, scratch);
    if constexpr (sizeof(Weight) == sizeof(float)) {
      if (spacing == 2 * 3) return sum_rows<2 * 3>(pass, scratch);
    }
    return sum_rest<kTilePixels, 4>(pass, scratch, 0, pixels);
  }
  if (vectors == 3) return sum_rest<8, 3>(pass, scratch, 0, pixels);
  if constexpr (sizeof(Weight) == sizeof(float)) {
    const int32_t rest = pass.c.filter.out_channels % kLanes;
    const bool narrow = rest >= 1 && rest <= kLanes / 2;
    return vectors == 2 ? sum_runs<2>(pass, narrow, scratch) : sum_runs<1>(pass, narrow, scratch);
  } else {
    return vectors == 2 ? sum_rest<8, 2>(pass, scratch, 0, pixels)
                        : sum_rest<8, 1>(pass, scratch, 0, pixels);
  }
}

int64_t vectors_of(const Context& c, int32_t tile) {
  return smaller(kVectors, channel_blocks(c.filter.out_channels) - int64_t{tile} * kVectors);
}

// Adds the products of input blocks `block`..`block` + `count`, of those held, to one tile of output channels.
template <typename Weight>
void sum_chunk(const Context& c, const Band& band, int32_t tile, int64_t n, Held held,
               int64_t block, int64_t count, float* acc, Scratch& scratch) {
  const int64_t first_block = int64_t{tile} * kVectors;
  const int64_t taps = c.y.kernel * c.x.kernel;
  const int32_t lanes =
      lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block + count - 1));
  const Pass<Weight> pass = {
      c,
      band,
      Target(c, band, n, first_block),
      scratch.step_offset + (block - held.begin) * taps,
      scratch.step_weight + (block - held.begin) * taps,
      (lanes == kLanes ? count : count - 1) * taps,
      count * taps,
      lanes,
      c.weights<Weight>() + first_block * c.block_weights + held.begin * taps * kLanes * kLanes,
      c.block_weights,
      c.bias + first_block * kLanes,
      acc,
      block == 0,
      block + count == channel_blocks(c.filter.in_channels)};
  sum_tile(pass, vectors_of(c, tile), scratch);
}

// All there is to sum where channels are few: one step per row of the kernel.
void sum_few(const Context& c, const Band& band, int32_t tile, int64_t n, Scratch& scratch) {
  const int64_t first_block = int64_t{tile} * kVectors;
  const int64_t row = c.x.kernel * c.filter.in_channels, block_weights = c.y.kernel * row * kLanes;
  const Pass<float> pass = {c,
                            band,
                            Target(c, band, n, first_block),
                            scratch.step_offset,
                            scratch.step_weight,
                            0,
                            c.y.kernel,
                            static_cast<int32_t>(row),
                            scratch.few_weights + first_block * block_weights,
                            block_weights,
                            c.bias + first_block * kLanes,
                            nullptr,
                            true,
                            true};
  sum_tile(pass, vectors_of(c, tile), scratch);
}

// Where the pixels and the taps of a band lie; bands of one shape share it.
void fill_places(const Context& c, const Band& band, int64_t blocks, Scratch& scratch) {
  const int64_t shape[3] = {band.rows, band.columns, band.scratch_columns};
  if (__builtin_memcmp(shape, scratch.shape, sizeof shape) == 0) return;
  __builtin_memcpy(scratch.shape, shape, sizeof shape);
  scratch.places.fill(band, c.one_tap ? 1 : c.y.step, c.one_tap ? 1 : c.x.step, c.extents.out.w);
  const int64_t step_weights =
      c.few ? c.x.kernel * c.filter.in_channels * kLanes : int64_t{kLanes} * kLanes;
  int64_t step = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
      const int64_t row = block * band.scratch_pixels() + c.y.tap(ky) * band.scratch_columns;
      for (int64_t kx = 0; kx < (c.few ? 1 : c.x.kernel); ++kx, ++step) {
        scratch.step_offset[step] = static_cast<int32_t>((row + c.x.tap(kx)) * c.pixel_floats);
        scratch.step_weight[step] = static_cast<int32_t>(step * step_weights);
      }
    }
  }
  scratch.step_offset[step] = 0;
}

// Tiles of output channels over the blocks that are held. `sums` of each tile, or of all where one is done before the
// next begins: then `next_sums` is 0.
template <typename Weight>
void sum_held(const Context& c, const Band& band, TileRange tiles, int64_t n, Held held,
              int64_t next_sums, Scratch& scratch) {
  const int64_t block_bytes =
      c.y.kernel * c.x.kernel * kLanes * kConvF16Tile * int64_t{sizeof(Weight)};
  const int64_t chunk = kChunkWeightBytes / block_bytes;
  for (int32_t tile = tiles.begin; tile < tiles.end; ++tile) {
    float* const acc = scratch.acc + (tile - tiles.begin) * next_sums;
    const int64_t part = even_part(held.end - held.begin, chunk < 1 ? 1 : chunk);
    for (int64_t block = held.begin; block < held.end; block += part)
      sum_chunk<Weight>(c, band, tile, n, held, block, smaller(part, held.end - block), acc,
                        scratch);
  }
}

// The weights of channels that exist, without gaps: [oc block][kernel.h][kernel.w][channels][16 oc].
void gather_few_weights(const Context& c, float* to) {
  const int64_t rows = channel_blocks(c.filter.out_channels) * c.y.kernel * c.x.kernel;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < c.filter.in_channels; ++i, to += kLanes)
      _mm512_store_ps(to, _mm512_load_ps(c.weights<float>() + (row * kLanes + i) * kLanes));
  }
}

void start_ahead(const Context& c, const Band& band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int32_t pixels = c.filter.out_channels > 2 * kLanes ? kTilePixels : kRun;
  scratch.ahead.start(c, band, n, (tiles.end - tiles.begin) * (band.pixels() / pixels + 1));
}

void few_band(const Context& c, const Band& band, TileRange tiles, int64_t n, Scratch& scratch) {
  fill_places(c, band, 1, scratch);
  load_few(c, band, c.image(n), scratch.pixels[0]);
  start_ahead(c, band, tiles, n, scratch);
  for (int32_t tile = tiles.begin; tile < tiles.end; ++tile) sum_few(c, band, tile, n, scratch);
}

template <typename Weight>
void dense_band(const Context& c, Band band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int64_t in_blocks = channel_blocks(c.filter.in_channels);
  if (c.one_tap) {
    band.scratch_rows = band.rows;
    band.scratch_columns = band.columns;
  }
  const int64_t hold = smaller(kScratchPixels / band.scratch_pixels(), in_blocks);
  fill_places(c, band, hold, scratch);
  start_ahead(c, band, tiles, n, scratch);
  // Where not all blocks of the input can be held, sums of as many tiles as there is room for wait for the others.
  const int64_t sums = band.pixels() * kConvF16Tile;
  const int32_t group =
      hold == in_blocks ? tiles.end - tiles.begin : static_cast<int32_t>(kSumFloats / sums);
  for (int32_t tile = tiles.begin; tile < tiles.end; tile += group) {
    const int32_t end = group < tiles.end - tile ? tile + group : tiles.end;
    for (int64_t block = 0; block < in_blocks; block += hold) {
      const Held held = {block, smaller(block + hold, in_blocks)};
      for (int64_t i = held.begin; i < held.end; ++i) {
        load_block(c, band, c.image(n) + i * c.in_plane,
                   scratch.pixels + (i - held.begin) * band.scratch_pixels());
      }
      sum_held<Weight>(c, band, {tile, end}, n, held, hold == in_blocks ? 0 : sums, scratch);
    }
  }
}

template <typename Weight>
void dense(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const Context c(args);
  const ConvUnits counted(filter, args.extents, kConvF16Tile);
  Scratch scratch;
  const auto work = [&](const Band& band, TileRange tiles, int64_t n) {
    dense_band<Weight>(c, band, tiles, n, scratch);
  };
  if (c.flat) {
    const int64_t all = kScratchPixels / channel_blocks(filter.in_channels);
    const int64_t most = all < kFewPixels ? kBandPixels : smaller(all, kBandPixels);
    for_each_run(counted, args.extents.out, most, kRun, units, work);
    return;
  }
  const int64_t pixels = pixels_for_all_blocks(filter, c.extents, kScratchPixels, kFewPixels);
  for_each_band(filter, c.extents, counted, {kBandPixels, pixels, true}, units, work);
}

void few(const Context& c, IndexRange units) {
  Scratch scratch;
  gather_few_weights(c, scratch.few_weights);
  const BandLimits limits = {kFewBandPixels, kScratchPixels * kLanes / kFewChannels - kLanes, true,
                             kFewBandRows, kRun};
  for_each_band(
      c.filter, c.extents, {c.filter, c.args.extents, kConvF16Tile}, limits, units,
      [&](const Band& band, TileRange tiles, int64_t n) { few_band(c, band, tiles, n, scratch); });
}

}  // namespace

void dense(const ConvF16Args& args, IndexRange units) {
  const Context c(args);
  if (c.few) return few(c, units);
  if (!pointwise(args, units)) dense<float>(args, units);
}

void dense_half(const ConvF16Args& args, IndexRange units) {
  if (!pointwise(args, units)) dense<uint16_t>(args, units);
}

}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

namespace rk::kernels {

void conv_f16__avx512_6x64(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  if (takes_dense_tiles(filter)) {
    avx512_f16::dense(args, units);
  } else if (filter.depthwise() && fits_bands(filter, avx512_f16::kScratchPixels)) {
    avx512_f16::depthwise(args, units);
  } else if (filter.depthwise() || filter.groups == 1 || !avx512_f16::grouped(args, units)) {
    conv_f16__generic(args, units);
  }
}

void conv_f16_half__avx512_6x64(const ConvF16Args& args, IndexRange units) {
  avx512_f16::dense_half(args, units);
}

}  // namespace rk::kernels

#endif  // x86-64
