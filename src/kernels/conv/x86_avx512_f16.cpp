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
constexpr int32_t kPair =
    2;  // vectors of one pass: 24 sums of 12 pixels, the most that stay in registers
constexpr int64_t kBandPixels = 96;
constexpr int64_t kScratchPixels = 4096;          // 256 KiB: of the second-level cache
constexpr int64_t kChunkWeightBytes = 384 << 10;  // that one pass over a band reads

constexpr int64_t kFewPixels = 48;  // a smaller band would read the weights too often
constexpr float kInfinity = __builtin_inff();

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
  alignas(64) float acc[kBandPixels][kConvF16Tile];  // between the chunks of a long sum
  BandPlaces<kBandPixels> places;
  // Floats from a pixel's place to what a step reads; steps are counted from a chunk's first block on. One more, so that
  // the step after the last may be asked for.
  int32_t step_offset[kScratchPixels + 1];
};

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

struct Context {
  const ConvF16Args& args;
  const ConvF16Params& params;
  const ConvFilter& filter;
  ConvExtents extents;  // counted_extents
  AxisPlan y, x;
  // Elements from one pixel and from one block to the next.
  int64_t in_pixel, in_plane;
  int64_t out_pixel, residual_pixel, out_plane;
  int64_t tile_floats;  // of the weights of one block of output channels
  const float* weights;
  const float* bias;
  __m512 low, high, low_after;  // infinite where there is no such activation

  explicit Context(const ConvF16Args& a)
      : args(a),
        params(a.packed->params),
        filter(params.filter),
        extents(counted_extents(filter, a.extents)),
        y(axis_plan(filter, true)),
        x(axis_plan(filter, false)),
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
        low(_mm512_set1_ps(params.activation != Activation::kNone ? 0.0f : -kInfinity)),
        high(_mm512_set1_ps(params.activation == Activation::kClip ? params.clip : kInfinity)),
        low_after(_mm512_set1_ps(params.relu_after_add ? 0.0f : -kInfinity)) {
    if (!is_matrix_product(filter, a.extents)) return;
    in_plane = out_plane = kLanes;
    residual_pixel = int64_t{channel_blocks(filter.out_channels)} * kLanes;
    in_pixel = a.input_batch_stride != 0 ? a.input_batch_stride
                                         : int64_t{channel_blocks(filter.in_channels)} * kLanes;
    out_pixel = a.output_batch_stride != 0 ? a.output_batch_stride : residual_pixel;
  }

  const uint16_t* image(int64_t n) const {
    const int64_t dense = channel_blocks(filter.in_channels) * in_plane;
    return args.input + n * (args.input_batch_stride != 0 ? args.input_batch_stride : dense);
  }

  // Activation, residual, activation, one rounding. The second operand of a comparison wins where one is NaN.
  inline __attribute__((always_inline)) void finish(__m512 v, const uint16_t* residual,
                                                    uint16_t* output) const {
    v = _mm512_min_ps(high, _mm512_max_ps(low, v));
    if (residual != nullptr) {
      const __m256i e = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(residual));
      v = _mm512_add_ps(v, _mm512_cvtph_ps(e));
    }
    v = _mm512_max_ps(low_after, v);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(output),
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

// Output and residual of one block, at the band's first pixel.
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
  void finish(const Context& c, __m512 v, int64_t place) const {
    c.finish(v, residual != nullptr ? residual + place * c.residual_pixel : nullptr,
             output + place * c.out_pixel);
  }
};

void widen_pixels(const uint16_t* from, float (*to)[kLanes], int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto* const pixel = reinterpret_cast<const __m256i*>(from + i * kLanes);
    _mm512_store_ps(to[i], _mm512_cvtph_ps(_mm256_loadu_si256(pixel)));
  }
}

void clear_pixels(float (*to)[kLanes], int64_t count) {
  for (int64_t i = 0; i < count; ++i) _mm512_store_ps(to[i], _mm512_setzero_ps());
}

// Fills the scratch rows of one input block; what lies outside the picture is 0.
void load_block(const Context& c, const Band& band, const uint16_t* plane, float (*to)[kLanes]) {
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  for (int64_t r = 0; r < band.scratch_rows; ++r, to += columns) {
    const int64_t iy = c.y.source(top + r, c.extents.in.h);
    if (iy < 0 || c.x.stuffing != 1) clear_pixels(to, columns);
    if (iy < 0) continue;
    const uint16_t* const row = plane + iy * c.extents.in.w * c.in_pixel;
    if (c.x.stuffing != 1) {
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t ix = c.x.source(left + i, c.extents.in.w);
        if (ix >= 0) widen_pixels(row + ix * kLanes, to + i, 1);
      }
      continue;
    }
    const RowPart part = row_part(left, columns, c.extents.in.w);
    clear_pixels(to, part.before);
    widen_pixels(row + (left + part.before) * kLanes, to + part.before, part.body);
    clear_pixels(to + part.before + part.body, columns - part.before - part.body);
  }
}

// One pass over a chunk of input blocks for one tile of output channels. A step is one tap of one input block.
struct Pass {
  const Context& c;
  const Band& band;
  Target target[kVectors];
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
                                                    int32_t lanes,
                                                    __m512 (&sum)[kPixels][kCount]) {
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
  const float* const start = pass.first ? pass.bias : pass.acc + pixel * kConvF16Tile;
  const int64_t next_start = pass.first ? 0 : kConvF16Tile;
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v)
      sum[p][v] = _mm512_load_ps(start + p * next_start + v * kLanes);
  }
  const float* weights = pass.weights;
  const int64_t next_vector = c.tile_floats;
  const int32_t* const offset = scratch.step_offset;
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
  if (pass.last) {
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const int64_t place = scratch.places.output[pixel + p];
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) pass.target[v].finish(c, sum[p][v], place);
    }
  } else {
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        _mm512_store_ps(pass.acc + (pixel + p) * kConvF16Tile + v * kLanes, sum[p][v]);
    }
  }
}

// All pixels from `pixel` on: whole tiles, then ever smaller ones.
template <int kPixels, int kCount>
void sum_band(const Pass& pass, Scratch& scratch, int64_t pixel) {
  const int64_t end = pass.band.pixels();
  for (; pixel + kPixels <= end; pixel += kPixels)
    sum_pixels<kPixels, kCount, 0>(pass, scratch, pixel);
  if constexpr (kPixels > 1) {
    if (pixel < end) sum_band<kPixels / 2, kCount>(pass, scratch, pixel);
  }
}

// One tile of output channels over `count` blocks from `block` on, which are loaded.
void sum_loaded(const Context& c, const Band& band, int32_t tile, int64_t n, int64_t block,
                int64_t count, Scratch& scratch) {
  const int32_t in_blocks = channel_blocks(c.filter.in_channels);
  const int64_t first_block = int64_t{tile} * kVectors;
  const int64_t vectors = smaller(kVectors, channel_blocks(c.filter.out_channels) - first_block);
  const int64_t taps = c.y.kernel * c.x.kernel;
  const int64_t block_weights = taps * kLanes * kLanes;
  const int32_t lanes =
      lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block + count - 1));
  const auto target = [&](int64_t v) { return Target(c, band, n, first_block + smaller(v, vectors - 1)); };
  const Pass pass = {
      c,
      band,
      {target(0), target(1), target(2), target(3)},
      (lanes == kLanes ? count : count - 1) * taps,
      count * taps,
      lanes,
      c.weights + first_block * c.tile_floats + block * block_weights,
      c.bias + first_block * kLanes,
      scratch.acc[0],
      block == 0,
      block + count == in_blocks};
  switch (vectors) {
    case 4: return sum_band<6, 4>(pass, scratch, 0);
    case 3: return sum_band<8, 3>(pass, scratch, 0);
    case 2: return sum_band<8, 2>(pass, scratch, 0);
    default: return sum_band<8, 1>(pass, scratch, 0);
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

void dense_band(const Context& c, const Band& band, TileRange tiles, int64_t n, Scratch& scratch) {
  const int32_t in_blocks = channel_blocks(c.filter.in_channels);
  const int64_t block_bytes =
      c.y.kernel * c.x.kernel * kLanes * kConvF16Tile * int64_t{sizeof(float)};
  const int64_t by_weights = kChunkWeightBytes / block_bytes;
  const int64_t by_scratch = kScratchPixels / band.scratch_pixels();
  const int64_t chunk = by_weights < 1 ? 1 : smaller(by_weights, by_scratch);
  scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  fill_steps(c, band, smaller(chunk, in_blocks), scratch);
  for (int32_t tile = tiles.begin; tile < tiles.end; ++tile) {
    for (int64_t block = 0; block < in_blocks; block += chunk) {
      const int64_t count = smaller(chunk, in_blocks - block);
      // What fits in one chunk stays loaded for the next tile.
      for (int64_t i = 0; i < count && (tile == tiles.begin || chunk < in_blocks); ++i) {
        load_block(c, band, c.image(n) + (block + i) * c.in_plane,
                   scratch.pixels + i * band.scratch_pixels());
      }
      sum_loaded(c, band, tile, n, block, count, scratch);
    }
  }
}

template <int kPixels>
inline void depthwise_pixels(const Context& c, const Band& band, const float* weights,
                             const float* from, __m512 bias, const Target& target, int64_t place) {
  __m512 sum[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = bias;
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    const float* const row = from + c.y.tap(ky) * band.scratch_columns * kLanes;
    for (int64_t kx = 0; kx < c.x.kernel; ++kx, weights += kLanes) {
      const float* const x = row + c.x.tap(kx) * kLanes;
      const __m512 w = _mm512_load_ps(weights);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        sum[p] = _mm512_fmadd_ps(_mm512_load_ps(x + p * c.x.step * kLanes), w, sum[p]);
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
  const BandLimits limits =
      depthwise ? BandLimits{kScratchPixels, kScratchPixels}
                : BandLimits{kBandPixels,
                             pixels_for_all_blocks(filter, c.extents, kScratchPixels, kFewPixels)};
  Scratch scratch;
  for_each_band(filter, c.extents, {filter, args.extents, kConvF16Tile}, limits, units,
                [&](const Band& band, TileRange tiles, int64_t n) {
                  if (depthwise) {
                    depthwise_band(c, band, tiles, n, scratch);
                  } else {
                    dense_band(c, band, tiles, n, scratch);
                  }
                });
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
