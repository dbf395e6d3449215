// SPDX-License-Identifier: Apache-2.0
// conv_f16 with AVX-512: a band's input rows are widened to float32 scratch once, then tiles of 6 pixels by 64 output
// channels are summed by fused multiply-adds, in the order that conv_f16.h states, and narrowed once at the end.
//
// A newcomer's mistake: padding lanes of the input may hold infinities; they are never multiplied, not even by 0.
#if defined(__x86_64__)

#include "kernels/conv/x86_avx512_f16.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__avx512_6x64;

}  // namespace rk::kernels

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

constexpr int32_t kTilePixels = 6;  // by kVectors: 24 sums, 4 vectors of weights, 1 of input
constexpr int32_t kRun = 12;        // pixels of one or two vectors
constexpr int64_t kBandPixels = 224;
constexpr int64_t kFewBandPixels = 1024;  // where channels are few
constexpr int64_t kFewBandRows = 16;
constexpr int64_t kChunkWeightBytes = 384 << 10;  // that one pass over a band reads
constexpr int64_t kFewPixels = 48;                // a smaller band would read the weights too often

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
  // Sums between the chunks; where channels are few there is but one chunk, and this holds the weights.
  alignas(64) float acc[kSumFloats];
  BandPlaces<kFewBandPixels + kFewBandRows * kRun> places;
  // Floats from a pixel's place to what a step reads; steps are counted from the first block in scratch on. One more, so
  // that the step after the last may be asked for.
  int32_t step_offset[kScratchPixels + 1];
};

// One pass over a chunk of input blocks for one tile of output channels. A step is one tap of one input block.
struct Pass {
  const Context& c;
  const Band& band;
  Target target;
  const int32_t* step_offset;
  int64_t full_steps, steps;  // the first ones have all 16 channels
  int32_t last_lanes;         // channels of the others
  const float* weights;       // of the first vector, at the chunk
  int64_t last_weights;       // floats of one of the last steps
  int64_t next_vector;        // floats to the weights of the next vector
  const float* bias;
  float* acc;  // of pixel 0; pixels are kConvF16Tile apart
  bool first, last;
};

// Adds the products of `lanes` input channels.
template <int kPixels, int kCount, int kSpacing>
inline __attribute__((always_inline)) void add_step(const float* const (&x)[kPixels], int64_t at,
                                                    const float* weights, int64_t next_vector,
                                                    int32_t lanes, __m512 (&sum)[kPixels][kCount]) {
#pragma GCC unroll 1
  for (int64_t i = 0; i < lanes; ++i, weights += kLanes) {
    asm("" : "+r"(i));  // one index for all pixels; else the compiler counts up a pointer for each
    __m512 w[kCount];
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) w[v] = _mm512_load_ps(weights + v * next_vector);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const float* const from = kSpacing == 0 ? x[p] : x[0] + p * kSpacing;
      const __m512 spread = _mm512_set1_ps(from[at + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) sum[p][v] = _mm512_fmadd_ps(spread, w[v], sum[p][v]);
    }
  }
}

// kPixels pixels from number `pixel` on, by kCount vectors. kSpacing: floats of scratch from one to the next, so that one
// register reaches all; 0: they lie anywhere.
template <int kPixels, int kCount, int kSpacing>
__attribute__((noinline)) void sum_pixels(const Pass& pass, const Scratch& scratch, int64_t pixel) {
  const Context& c = pass.c;
  const float* x[kPixels];
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p) {
    x[p] = kSpacing == 0 || p == 0
               ? scratch.pixels[0] + scratch.places.scratch[pixel + p] * c.pixel_floats
               : x[0] + p * kSpacing;
  }
  __m512 sum[kPixels][kCount];
  float* const acc = pass.acc + pixel * kConvF16Tile;
  if (pass.first) {
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) sum[p][v] = _mm512_load_ps(pass.bias + v * kLanes);
    }
  } else {
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        sum[p][v] = _mm512_load_ps(acc + p * kConvF16Tile + v * kLanes);
    }
  }
  const float* weights = pass.weights;
  const int64_t next_vector = pass.next_vector;
  const int32_t* const offset = pass.step_offset;
  int64_t step = 0;
  for (; step < pass.full_steps; ++step, weights += kLanes * kLanes) {
    // Kernels of one tap read a new line of each pixel in every step, in a pattern no prefetcher knows.
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      _mm_prefetch(reinterpret_cast<const char*>(x[p] + offset[step + 1]), _MM_HINT_T0);
    }
    add_step<kPixels, kCount, kSpacing>(x, offset[step], weights, next_vector, kLanes, sum);
  }
  for (; step < pass.steps; ++step, weights += pass.last_weights) {
    add_step<kPixels, kCount, kSpacing>(x, offset[step], weights, next_vector, pass.last_lanes,
                                        sum);
  }
  if (!pass.last) {
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        _mm512_store_ps(acc + p * kConvF16Tile + v * kLanes, sum[p][v]);
    }
    return;
  }
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p)
    pass.target.finish(c, sum[p], scratch.places.output[pixel + p], c.out_plane);
}

// All pixels from `pixel` on that lie anywhere: whole tiles, then what is left.
template <int kPixels, int kCount>
void sum_rest(const Pass& pass, const Scratch& scratch, int64_t pixel, int64_t end) {
  for (; pixel + kPixels <= end; pixel += kPixels)
    sum_pixels<kPixels, kCount, 0>(pass, scratch, pixel);
  if constexpr (kPixels > 1) {
    if (pixel < end)
      sum_rest<kPixels == kTilePixels ? 4 : kPixels / 2, kCount>(pass, scratch, pixel, end);
  }
}

// All pixels for one or two vectors, which leave room for the sums of kRun pixels but not for as many pointers.
template <int kCount>
void sum_runs(const Pass& pass, const Scratch& scratch) {
  const Band& band = pass.band;
  const int64_t spacing = pass.c.spacing();
  for (int64_t row = 0; row < band.rows; ++row) {
    const int64_t end = (row + 1) * band.columns;
    int64_t pixel = row * band.columns;
    const auto run = [&]<int kSpacing>() {
      for (; pixel + kRun <= end; pixel += kRun)
        sum_pixels<kRun, kCount, kSpacing>(pass, scratch, pixel);
    };
    if (spacing == kLanes) run.template operator()<kLanes>();
    if (spacing == 2 * kLanes) run.template operator()<2 * kLanes>();
    if (spacing == 2 * 3) run.template operator()<2 * 3>();
    sum_rest<8, kCount>(pass, scratch, pixel, end);
  }
}

// The blocks of one input that lie in scratch.
struct Held {
  int64_t begin, end;
};

// Adds the products of input blocks `block`..`block` + `count`, of those held, to one tile of output channels.
void sum_chunk(const Context& c, const Band& band, int32_t tile, int64_t n, Held held,
               int64_t block, int64_t count, float* acc, Scratch& scratch) {
  const int32_t in_blocks = channel_blocks(c.filter.in_channels);
  const int64_t first_block = int64_t{tile} * kVectors;
  const int64_t vectors = smaller(kVectors, channel_blocks(c.filter.out_channels) - first_block);
  const int64_t taps = c.y.kernel * c.x.kernel;
  const int32_t lanes =
      lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block + count - 1));
  const Target target(c, band, n, first_block);
  const float* const bias = c.bias + first_block * kLanes;
  const int64_t few_floats = taps * c.filter.in_channels * kLanes;
  const Pass pass =
      c.few ? Pass{c,
                   band,
                   target,
                   scratch.step_offset,
                   0,
                   c.y.kernel,
                   static_cast<int32_t>(c.x.kernel) * c.filter.in_channels,
                   scratch.acc + first_block * few_floats,
                   c.x.kernel * c.filter.in_channels * kLanes,
                   few_floats,
                   bias,
                   nullptr,
                   true,
                   true}
            : Pass{c,
                   band,
                   target,
                   scratch.step_offset + (block - held.begin) * taps,
                   (lanes == kLanes ? count : count - 1) * taps,
                   count * taps,
                   lanes,
                   c.weights + first_block * c.tile_floats + block * taps * kLanes * kLanes,
                   kLanes * kLanes,
                   c.tile_floats,
                   bias,
                   acc,
                   block == 0,
                   block + count == in_blocks};
  switch (vectors) {
    case 4:
      return sum_rest<kTilePixels, 4>(pass, scratch, 0, band.pixels());
    case 3:
      return sum_rest<8, 3>(pass, scratch, 0, band.pixels());
    case 2:
      return sum_runs<2>(pass, scratch);
    default:
      return sum_runs<1>(pass, scratch);
  }
}

void fill_steps(const Context& c, const Band& band, int64_t blocks, Scratch& scratch) {
  int32_t* to = scratch.step_offset;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
      const int64_t row = block * band.scratch_pixels() + c.y.tap(ky) * band.scratch_columns;
      for (int64_t kx = 0; kx < (c.few ? 1 : c.x.kernel); ++kx)
        *to++ = static_cast<int32_t>((row + c.x.tap(kx)) * c.pixel_floats);
    }
  }
  *to = 0;
}

// Tiles of output channels over the blocks that are held. `sums` of each tile, or of all where one is done before the
// next begins: then `next_sums` is 0.
void sum_held(const Context& c, const Band& band, TileRange tiles, int64_t n, Held held,
              int64_t next_sums, Scratch& scratch) {
  const int64_t block_bytes =
      c.y.kernel * c.x.kernel * kLanes * kConvF16Tile * int64_t{sizeof(float)};
  const int64_t chunk = kChunkWeightBytes / block_bytes;
  for (int32_t tile = tiles.begin; tile < tiles.end; ++tile) {
    float* const acc = scratch.acc + (tile - tiles.begin) * next_sums;
    const int64_t part = even_part(held.end - held.begin, chunk < 1 ? 1 : chunk);
    for (int64_t block = held.begin; block < held.end; block += part)
      sum_chunk(c, band, tile, n, held, block, smaller(part, held.end - block), acc, scratch);
  }
}

// The weights of channels that exist, without gaps: [oc block][kernel.h][kernel.w][channels][16 oc].
void gather_few_weights(const Context& c, float* to) {
  const int64_t rows = channel_blocks(c.filter.out_channels) * c.y.kernel * c.x.kernel;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < c.filter.in_channels; ++i, to += kLanes)
      _mm512_store_ps(to, _mm512_load_ps(c.weights + (row * kLanes + i) * kLanes));
  }
}

void dense_band(const Context& c, Band band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int64_t in_blocks = channel_blocks(c.filter.in_channels);
  if (c.one_tap) {
    band.scratch_rows = band.rows;
    band.scratch_columns = band.columns;
    scratch.places.fill(band, 1, 1, c.extents.out.w);
  } else {
    scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  }
  const int64_t hold = c.few ? 1 : smaller(kScratchPixels / band.scratch_pixels(), in_blocks);
  fill_steps(c, band, hold, scratch);
  // Where not all blocks of the input can be held, sums of as many tiles as there is room for wait for the others.
  const int64_t sums = band.pixels() * kConvF16Tile;
  const int32_t group =
      hold == in_blocks ? tiles.end - tiles.begin : static_cast<int32_t>(kSumFloats / sums);
  for (int32_t tile = tiles.begin; tile < tiles.end; tile += group) {
    const int32_t end = group < tiles.end - tile ? tile + group : tiles.end;
    for (int64_t block = 0; block < in_blocks; block += hold) {
      const Held held = {block, smaller(block + hold, in_blocks)};
      if (c.few) load_few(c, band, c.image(n), scratch.pixels[0]);
      for (int64_t i = held.begin; i < held.end && !c.few; ++i) {
        load_block(c, band, c.image(n) + i * c.in_plane,
                   scratch.pixels + (i - held.begin) * band.scratch_pixels());
      }
      sum_held(c, band, {tile, end}, n, held, hold == in_blocks ? 0 : sums, scratch);
    }
  }
}

}  // namespace

void dense(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const Context c(args);
  const ConvUnits counted(filter, args.extents, kConvF16Tile);
  Scratch scratch;
  const auto work = [&](const Band& band, TileRange tiles, int64_t n) {
    dense_band(c, band, tiles, n, scratch);
  };
  if (c.flat) {
    const int64_t all = kScratchPixels / channel_blocks(filter.in_channels);
    const int64_t most = all < kFewPixels ? kBandPixels : smaller(all, kBandPixels);
    for_each_run(counted, args.extents.out, most, kRun, units, work);
    return;
  }
  if (c.few) {
    gather_few_weights(c, scratch.acc);
    for_each_band(
        filter, c.extents, counted,
        {kFewBandPixels, kScratchPixels * kLanes / kFewChannels - kLanes, true, kFewBandRows, kRun},
        units, work);
    return;
  }
  const int64_t pixels = pixels_for_all_blocks(filter, c.extents, kScratchPixels, kFewPixels);
  for_each_band(filter, c.extents, counted, {kBandPixels, pixels, true}, units, work);
}

}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

namespace rk::kernels {

void conv_f16__avx512_6x64(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  // Lanes of several groups in one vector would meet each other's infinities: the generic kernel keeps them apart.
  if ((filter.groups != 1 && !filter.depthwise()) ||
      !fits_bands(filter, avx512_f16::kScratchPixels)) {
    conv_f16__generic(args, units);
  } else if (filter.depthwise()) {
    avx512_f16::depthwise(args, units);
  } else {
    avx512_f16::dense(args, units);
  }
}

}  // namespace rk::kernels

#endif  // x86-64
