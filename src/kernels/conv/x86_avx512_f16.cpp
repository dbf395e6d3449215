// SPDX-License-Identifier: Apache-2.0
// conv_f16 with AVX-512: a band's input rows are widened to float32 scratch once, then tiles of 12 pixels by 32 output
// channels are summed by fused multiply-adds, in the order that conv_f16.h states, and narrowed once at the end.
//
// A newcomer's mistake: padding lanes of the input may hold infinities; they are never multiplied, not even by 0.
#if defined(__x86_64__)

#include <cstdint>

#include "kernels/conv/bands.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__avx512_12x32;

}  // namespace rk::kernels

RK_AVX512_BEGIN

namespace rk::kernels {
namespace {

constexpr int32_t kLanes = kHostBlock;
constexpr int32_t kVectors = kConvF16Tile / kLanes;
constexpr int32_t kTilePixels = 6;  // by kVectors: 24 sums, 4 vectors of weights, 1 of input
constexpr int64_t kBandPixels = 224;
constexpr int64_t kScratchPixels = 6400;          // 400 KiB: of the second-level cache
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

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

struct Context {
  const ConvF16Args& args;
  const ConvF16Params& params;
  const ConvFilter& filter;
  ConvExtents extents;  // counted_extents
  AxisPlan y, x;
  bool one_tap;  // scratch holds only the pixels that are read
  bool flat;     // and they follow each other without borders: rows count as one
  // Elements from one pixel and from one block to the next.
  int64_t in_pixel, in_plane;
  int64_t out_pixel, residual_pixel, out_plane;
  int64_t tile_floats;  // of the weights of one block of output channels
  const float* weights;
  const float* bias;
  bool clamps, clips;
  __m512 low, high;

  explicit Context(const ConvF16Args& a)
      : args(a),
        params(a.packed->params),
        filter(params.filter),
        extents(counted_extents(filter, a.extents)),
        y(axis_plan(filter, true)),
        x(axis_plan(filter, false)),
        one_tap(y.kernel == 1 && x.kernel == 1 && !filter.transposed && filter.groups == 1),
        flat(is_flat()),
        in_pixel(kLanes),
        in_plane(int64_t{extents.in.h} * extents.in.w * kLanes),
        out_pixel(kLanes),
        residual_pixel(kLanes),
        out_plane(int64_t{extents.out.h} * extents.out.w * kLanes),
        tile_floats(filter.depthwise() ? y.kernel * x.kernel * kLanes
                                       : channel_blocks(filter.in_channels) * y.kernel * x.kernel *
                                             kLanes * kLanes),
        weights(reinterpret_cast<const float*>(a.packed->weights.data())),
        bias(reinterpret_cast<const float*>(a.packed->bias.data())),
        clamps(params.activation != Activation::kNone),
        clips(params.activation == Activation::kClip),
        low(_mm512_setzero_ps()),
        high(_mm512_set1_ps(params.clip)) {
    if (flat) {
      extents.in = extents.out = {1, extents.in.h * extents.in.w};
    }
    if (!is_matrix_product(filter, a.extents)) return;
    in_plane = out_plane = kLanes;
    residual_pixel = int64_t{channel_blocks(filter.out_channels)} * kLanes;
    in_pixel = a.input_batch_stride != 0 ? a.input_batch_stride
                                         : int64_t{channel_blocks(filter.in_channels)} * kLanes;
    out_pixel = a.output_batch_stride != 0 ? a.output_batch_stride : residual_pixel;
  }

  bool is_flat() const {
    return one_tap && !is_matrix_product(filter, args.extents) && extents.in == extents.out &&
           extents.pad_before == Extent2{0, 0} && y.step == 1 && x.step == 1 &&
           int64_t{extents.in.h} * extents.in.w <= INT32_MAX;
  }

  const uint16_t* image(int64_t n) const {
    const int64_t dense = channel_blocks(filter.in_channels) * in_plane;
    return args.input + n * (args.input_batch_stride != 0 ? args.input_batch_stride : dense);
  }

  // Activation, residual, activation, one rounding, of kCount blocks of one pixel. The second operand of a comparison wins
  // where one is NaN.
  template <int kCount>
  inline __attribute__((always_inline)) void finish(__m512 (&v)[kCount], const uint16_t* residual,
                                                    uint16_t* output) const {
    if (clamps) {
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) v[i] = _mm512_max_ps(low, v[i]);
    }
    if (clips) {
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) v[i] = _mm512_min_ps(high, v[i]);
    }
    if (residual != nullptr) {
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const auto* const e = reinterpret_cast<const __m256i*>(residual + i * out_plane);
        v[i] = _mm512_add_ps(v[i], _mm512_cvtph_ps(_mm256_loadu_si256(e)));
      }
    }
    if (params.relu_after_add) {
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) v[i] = _mm512_max_ps(low, v[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(output + i * out_plane),
                          _mm512_cvtps_ph(v[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
  }
};

// Output and residual of blocks from `block` on, at the band's first pixel.
struct Target {
  uint16_t* output;
  const uint16_t* residual;

  Target(const Context& c, const Band& band, int64_t n, int64_t block) {
    const int64_t dense = channel_blocks(c.filter.out_channels) * c.out_plane;
    const int64_t stride = c.args.output_batch_stride != 0 ? c.args.output_batch_stride : dense;
    const int64_t first = band.oy * c.extents.out.w + band.ox;
    const int64_t plane = block * c.out_plane;
    output = c.args.output + n * stride + plane + first * c.out_pixel;
    residual = c.params.has_residual
                   ? c.args.residual + n * dense + plane + first * c.residual_pixel
                   : nullptr;
  }
  // `place` counts pixels.
  template <int kCount>
  inline __attribute__((always_inline)) void finish(const Context& c, __m512 (&v)[kCount],
                                                    int64_t place) const {
    c.finish(v, residual != nullptr ? residual + place * c.residual_pixel : nullptr,
             output + place * c.out_pixel);
  }
};

// Widens a run of pixels that are neighbours in `from`; asks for the same run `ahead` elements further, of the next block.
void widen_pixels(const uint16_t* from, float (*to)[kLanes], int64_t count, int64_t ahead) {
  const auto widen = [&](int64_t i) {
    const auto* const pixel = reinterpret_cast<const __m256i*>(from + i * kLanes);
    _mm512_store_ps(to[i], _mm512_cvtph_ps(_mm256_loadu_si256(pixel)));
  };
  int64_t i = 0;
  for (; i + 2 <= count; i += 2) {
    _mm_prefetch(reinterpret_cast<const char*>(from + ahead + i * kLanes), _MM_HINT_T0);
    widen(i);
    widen(i + 1);
  }
  if (i < count) widen(i);
}

void clear_pixels(float (*to)[kLanes], int64_t count) {
  for (int64_t i = 0; i < count; ++i) _mm512_store_ps(to[i], _mm512_setzero_ps());
}

// Fills the scratch rows of one input block; what lies outside the picture is 0.
void load_block(const Context& c, const Band& band, const uint16_t* plane, float (*to)[kLanes]) {
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  const int64_t y_step = c.one_tap ? c.y.step : 1, x_step = c.one_tap ? c.x.step : 1;
  const bool scattered = c.x.stuffing != 1 || x_step != 1;
  for (int64_t r = 0; r < band.scratch_rows; ++r, to += columns) {
    const int64_t iy = c.y.source(top + r * y_step, c.extents.in.h);
    if (iy < 0 || scattered) clear_pixels(to, columns);
    if (iy < 0) continue;
    const uint16_t* const row = plane + iy * c.extents.in.w * c.in_pixel;
    if (scattered) {
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t ix = c.x.source(left + i * x_step, c.extents.in.w);
        if (ix >= 0) widen_pixels(row + ix * kLanes, to + i, 1, 0);
      }
      continue;
    }
    const RowPart part = row_part(left, columns, c.extents.in.w);
    clear_pixels(to, part.before);
    widen_pixels(row + (left + part.before) * kLanes, to + part.before, part.body, c.in_plane);
    clear_pixels(to + part.before + part.body, columns - part.before - part.body);
  }
}

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
  for (int p = 0; p < kPixels; ++p) pass.target.finish(c, sum[p], scratch.places.output[pixel + p]);
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

template <int kPixels>
inline void depthwise_pixels(const Context& c, const Band& band, const float* weights,
                             const float* from, __m512 bias, const Target& target, int64_t place) {
  __m512 sum[kPixels][1];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p][0] = bias;
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    const float* const row = from + c.y.tap(ky) * band.scratch_columns * kLanes;
    for (int64_t kx = 0; kx < c.x.kernel; ++kx, weights += kLanes) {
      const float* const x = row + c.x.tap(kx) * kLanes;
      const __m512 w = _mm512_load_ps(weights);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        sum[p][0] = _mm512_fmadd_ps(_mm512_load_ps(x + p * c.x.step * kLanes), w, sum[p][0]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) target.finish(c, sum[p], place + p);
}

void depthwise_band(const Context& c, const Band& band, TileRange tiles, int64_t n,
                    Scratch& scratch) {
  const int64_t first = int64_t{tiles.begin} * kVectors;
  const int64_t end = smaller(int64_t{tiles.end} * kVectors, channel_blocks(c.filter.out_channels));
  for (int64_t block = first; block < end; ++block) {
    load_block(c, band, c.image(n) + block * c.in_plane, scratch.pixels);
    const Target target(c, band, n, block);
    const float* const weights = c.weights + block * c.tile_floats;
    const __m512 bias = _mm512_load_ps(c.bias + block * kLanes);
    for (int64_t row = 0; row < band.rows; ++row) {
      const float* const from = scratch.pixels[row * c.y.step * band.scratch_columns];
      const auto go = [&]<int kPixels>(int64_t column) {
        for (; column + kPixels <= band.columns; column += kPixels) {
          depthwise_pixels<kPixels>(c, band, weights, from + column * c.x.step * kLanes, bias,
                                    target, row * c.extents.out.w + column);
        }
        return column;
      };
      go.template operator()<1>(go.template operator()<8>(0));
    }
  }
}

}  // namespace

void conv_f16__avx512_12x32(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const bool depthwise = filter.depthwise();
  // Lanes of several groups in one vector would meet each other's infinities: the generic kernel keeps them apart.
  if ((filter.groups != 1 && !depthwise) || !fits_bands(filter, kScratchPixels)) {
    conv_f16__generic(args, units);
    return;
  }
  const Context c(args);
  const ConvUnits counted(filter, args.extents, kConvF16Tile);
  Scratch scratch;
  const auto work = [&](const Band& band, TileRange tiles, int64_t n) {
    if (depthwise) {
      depthwise_band(c, band, tiles, n, scratch);
    } else {
      dense_band(c, band, tiles, n, scratch);
    }
  };
  if (c.flat) {
    const int64_t all = kScratchPixels / channel_blocks(filter.in_channels);
    for_each_run(counted, args.extents.out,
                 all < kFewPixels ? kBandPixels : smaller(all, kBandPixels), kTilePixels, units,
                 work);
    return;
  }
  const BandLimits limits =
      depthwise
          ? BandLimits{kScratchPixels, kScratchPixels}
          : BandLimits{kBandPixels,
                       pixels_for_all_blocks(filter, c.extents, kScratchPixels, kFewPixels), true};
  for_each_band(filter, c.extents, counted, limits, units, work);
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
