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
constexpr int64_t kBandPixels = 224;
constexpr int64_t kChunkWeightBytes = 384 << 10;  // that one pass over a band reads
constexpr int64_t kSumFloats = 32768;             // between the chunks of long sums
constexpr int64_t kFewPixels = 48;                // a smaller band would read the weights too often

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
  alignas(64) float acc[kSumFloats];
  BandPlaces<kBandPixels> places;
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
  const float* bias;
  float* acc;  // of pixel 0; pixels are kConvF16Tile apart
  bool first, last;
};

// Adds the products of `lanes` input channels.
template <int kPixels, int kCount, int kStep>
inline __attribute__((always_inline)) void add_step(const float* const (&x)[kPixels], int64_t at,
                                                    const float* weights, int64_t next_vector,
                                                    int32_t lanes, __m512 (&sum)[kPixels][kCount]) {
#pragma GCC unroll 1
  for (int32_t i = 0; i < lanes; ++i) {
    __m512 w[kCount];
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      w[v] = _mm512_load_ps(weights + v * next_vector + i * kLanes);
    }
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const float* const from = kStep == 0 ? x[p] : x[0] + p * kStep * kLanes;
      const __m512 spread = _mm512_set1_ps(from[at + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) sum[p][v] = _mm512_fmadd_ps(spread, w[v], sum[p][v]);
    }
  }
}

// kPixels pixels from number `pixel` on, by kCount vectors. kStep: pixels of scratch from one to the next, which one
// base register then reaches; 0: anywhere.
template <int kPixels, int kCount, int kStep>
__attribute__((noinline)) void sum_pixels(const Pass& pass, const Scratch& scratch, int64_t pixel) {
  const Context& c = pass.c;
  const float* x[kPixels];
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p) {
    x[p] = kStep == 0 ? scratch.pixels[scratch.places.scratch[pixel + p]]
                      : scratch.pixels[scratch.places.scratch[pixel] + p * kStep];
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
  const int64_t next_vector = c.tile_floats;
  const int32_t* const offset = pass.step_offset;
  int64_t step = 0;
  for (; step < pass.full_steps; ++step, weights += kLanes * kLanes) {
    // Kernels of one tap read a new line of each pixel in every step, in a pattern no prefetcher knows.
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      _mm_prefetch(reinterpret_cast<const char*>(x[p] + offset[step + 1]), _MM_HINT_T0);
    }
    add_step<kPixels, kCount, kStep>(x, offset[step], weights, next_vector, kLanes, sum);
  }
  for (; step < pass.steps; ++step, weights += kLanes * kLanes) {
    add_step<kPixels, kCount, kStep>(x, offset[step], weights, next_vector, pass.last_lanes, sum);
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

// All pixels from `pixel` on: whole tiles, then what is left.
template <int kPixels, int kCount>
void sum_band(const Pass& pass, Scratch& scratch, int64_t pixel) {
  const int64_t end = pass.band.pixels();
  for (; pixel + kPixels <= end; pixel += kPixels)
    sum_pixels<kPixels, kCount, 0>(pass, scratch, pixel);
  if constexpr (kPixels > 1) {
    if (pixel < end)
      sum_band<kPixels == kTilePixels ? 4 : kPixels / 2, kCount>(pass, scratch, pixel);
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
  const Pass pass = {c,
                     band,
                     Target(c, band, n, first_block),
                     scratch.step_offset + (block - held.begin) * taps,
                     (lanes == kLanes ? count : count - 1) * taps,
                     count * taps,
                     lanes,
                     c.weights + first_block * c.tile_floats + block * taps * kLanes * kLanes,
                     c.bias + first_block * kLanes,
                     acc,
                     block == 0,
                     block + count == in_blocks};
  switch (vectors) {
    case 4:
      return sum_band<kTilePixels, 4>(pass, scratch, 0);
    case 3:
      return sum_band<8, 3>(pass, scratch, 0);
    case 2:
      return sum_band<8, 2>(pass, scratch, 0);
    default:
      return sum_band<8, 1>(pass, scratch, 0);
  }
}

void fill_steps(const Context& c, const Band& band, int64_t blocks, Scratch& scratch) {
  int32_t* to = scratch.step_offset;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
      const int64_t row = block * band.scratch_pixels() + c.y.tap(ky) * band.scratch_columns;
      for (int64_t kx = 0; kx < c.x.kernel; ++kx)
        *to++ = static_cast<int32_t>((row + c.x.tap(kx)) * kLanes);
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

void dense_band(const Context& c, Band band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int64_t in_blocks = channel_blocks(c.filter.in_channels);
  if (c.one_tap) {
    band.scratch_rows = band.rows;
    band.scratch_columns = band.columns;
    scratch.places.fill(band, 1, 1, c.extents.out.w);
  } else {
    scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  }
  const int64_t hold = smaller(kScratchPixels / band.scratch_pixels(), in_blocks);
  fill_steps(c, band, hold, scratch);
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
    for_each_run(counted, args.extents.out, most, kTilePixels, units, work);
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
