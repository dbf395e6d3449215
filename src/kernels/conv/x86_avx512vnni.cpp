// SPDX-License-Identifier: Apache-2.0
// conv_i8 with AVX512-VNNI: tiles of 6 pixels by 64 output channels, depthwise with one dot product per kernel row.
//
// Work goes in bands: the output pixels of a few rows. The input rows of a band are first copied to scratch, biased to
// unsigned, with the border written out and padding lanes cleared. That costs a few per cent, and after it no loop knows
// about borders, strides of the batch or transposition (x86_avx512vnni.h says how a transposed one becomes plain).
//
// Rounding to nearest even is a fused multiply-add onto 1.5 * 2^23 (or 2^52), which leaves the rounded integer in the
// mantissa. It carries its rounding mode in the instruction, because the host program may have changed MXCSR.
#if defined(__x86_64__)

#include <cstdint>
#include <cstring>

#include "kernels/conv/conv.h"
#include "kernels/conv/x86_avx512vnni.h"

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

// Everything included above is compiled for the baseline; only what follows uses the newer instructions.
#if defined(__clang__)
#pragma clang attribute push(                                                                \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,fma"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,fma")
#endif

namespace rk::kernels::vnni {

void run(const ConvI8Args& args, IndexRange units);

namespace {

constexpr int32_t kBandPixels = 96;
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

struct Scratch {
  alignas(64) uint8_t pixels[kScratchBytes + 64];  // 64: loads of 4 pixels may run past the last
  alignas(64) int32_t acc[kBandPixels][kTile];
  alignas(64) uint64_t sums[kScratchPixels + 4][2];  // per scratch pixel, in two halves
};

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A rectangle of output pixels and the rectangle of scratch pixels it reads.
struct Band {
  int64_t oy, ox;
  int64_t rows, columns;
  int64_t scratch_rows, scratch_columns;
  int64_t pixels() const { return rows * columns; }
  int64_t block_bytes() const { return scratch_rows * scratch_columns * kHostBlock; }
};

struct Context {
  const ConvI8Args& args;
  const ConvI8Params& params;
  const ConvFilter& filter;
  const ConvExtents& extents;
  Constants constants;
  AxisPlan y, x;
  int64_t in_plane;   // elements
  int64_t out_plane;  // elements

  explicit Context(const ConvI8Args& a)
      : args(a),
        params(a.packed->params),
        filter(params.filter),
        extents(a.extents),
        y(axis_plan(filter, true)),
        x(axis_plan(filter, false)),
        in_plane(int64_t{extents.in.h} * extents.in.w * kHostBlock),
        out_plane(int64_t{extents.out.h} * extents.out.w * kHostBlock) {
    std::memcpy(&constants, a.packed->constants.data(), sizeof constants);
  }

  const int8_t* image(int64_t n) const {
    const int64_t dense = channel_blocks(filter.in_channels) * in_plane;
    return args.input + n * (args.input_batch_stride != 0 ? args.input_batch_stride : dense);
  }
  int64_t dense_output() const { return channel_blocks(filter.out_channels) * out_plane; }
  int8_t* output(int64_t n) const {
    return args.output +
           n * (args.output_batch_stride != 0 ? args.output_batch_stride : dense_output());
  }
  const int8_t* residual(int64_t n) const {
    return params.has_residual ? args.residual + n * dense_output() : nullptr;
  }
};

// The coordinate of scratch position 0, in the stuffed input.
int64_t lead(const AxisPlan& axis, int64_t out, int64_t pad) {
  return axis.reversed ? out + pad - (axis.kernel - 1) * axis.dilation : out * axis.step - pad;
}

void fill_border(uint8_t* to, int64_t pixels, __m128i border) {
  for (int64_t i = 0; i < pixels; ++i) _mm_store_si128(reinterpret_cast<__m128i*>(to) + i, border);
}

// Biased copy of whole pixels; `keep` clears padding lanes.
void copy_pixels(const int8_t* from, uint8_t* to, int64_t pixels, __m128i keep) {
  const __m512i flip = _mm512_set1_epi8(-128);
  const __m512i keep4 = _mm512_broadcast_i32x4(keep);
  int64_t i = 0;
  for (; i + 4 <= pixels; i += 4) {
    const __m512i v = _mm512_xor_si512(_mm512_loadu_si512(from + i * kHostBlock), flip);
    _mm512_storeu_si512(to + i * kHostBlock, _mm512_and_si512(v, keep4));
  }
  for (; i < pixels; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
    _mm_store_si128(reinterpret_cast<__m128i*>(to) + i,
                    _mm_and_si128(_mm_xor_si128(v, _mm512_castsi512_si128(flip)), keep));
  }
}

// Fills the scratch rows of one input block.
void load_block(const Context& c, const Band& band, const int8_t* plane, int32_t lanes,
                uint8_t* scratch) {
  const __m128i keep = _mm_movm_epi8(static_cast<__mmask16>((1u << lanes) - 1));
  const __m128i border =
      _mm_and_si128(_mm_set1_epi8(static_cast<char>(c.params.input_zero_point ^ 0x80)), keep);
  const int64_t top = lead(c.y, band.oy, c.extents.pad_before.h);
  const int64_t left = lead(c.x, band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  for (int64_t r = 0; r < band.scratch_rows; ++r, scratch += columns * kHostBlock) {
    const int64_t at = top + r;
    const int64_t iy = at >= 0 && at % c.y.stuffing == 0 ? at / c.y.stuffing : -1;
    if (iy < 0 || iy >= c.extents.in.h) {
      fill_border(scratch, columns, border);
      continue;
    }
    const int8_t* const row = plane + iy * c.extents.in.w * kHostBlock;
    if (c.x.stuffing != 1) {
      fill_border(scratch, columns, border);
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t ix =
            left + i >= 0 && (left + i) % c.x.stuffing == 0 ? (left + i) / c.x.stuffing : -1;
        if (ix >= 0 && ix < c.extents.in.w) {
          copy_pixels(row + ix * kHostBlock, scratch + i * kHostBlock, 1, keep);
        }
      }
      continue;
    }
    const int64_t before = left < 0 ? smaller(-left, columns) : 0;
    const int64_t available = c.extents.in.w - (left > 0 ? left : 0);
    const int64_t body = available > 0 ? smaller(available, columns - before) : 0;
    fill_border(scratch, before, border);
    copy_pixels(row + (left + before) * kHostBlock, scratch + before * kHostBlock, body, keep);
    fill_border(scratch + (before + body) * kHostBlock, columns - before - body, border);
  }
}

// Adds one block's channels to the per-pixel sums of inputs.
void add_sums(const uint8_t* scratch, int64_t pixels, uint64_t (*sums)[2]) {
  for (int64_t i = 0; i < pixels; i += 4) {
    const __m512i part =
        _mm512_sad_epu8(_mm512_loadu_si512(scratch + i * kHostBlock), _mm512_setzero_si512());
    _mm512_storeu_si512(sums + i, _mm512_add_epi64(_mm512_loadu_si512(sums + i), part));
  }
}

// What one pass over a chunk of input blocks reads.
struct Chunk {
  int64_t blocks;
  int32_t last_quads;  // quads of the last block, if it is the last of the input; else 4
  int64_t block_bytes;
  int64_t row_bytes;
};

// acc[pixel][vector] += products of a chunk, for kPixels pixels at any places of the scratch.
template <int kPixels, int kVectors>
inline void multiply_tile(const Context& c, const Chunk& chunk, const uint8_t* const* at,
                          const int8_t* weights, bool first, int32_t (*acc)[kTile]) {
  __m512i sum[kPixels][kVectors];
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[p][v] = first ? _mm512_setzero_si512() : _mm512_load_si512(acc[p] + v * kVector);
    }
  }
  const uint8_t* x[kPixels];
  for (int p = 0; p < kPixels; ++p) x[p] = at[p];
  for (int64_t block = 0; block < chunk.blocks; ++block) {
    const int32_t quads = block + 1 == chunk.blocks ? chunk.last_quads : 4;
    for (int32_t plane = 0; plane < c.constants.planes; ++plane) {
      for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
        const int64_t row = block * chunk.block_bytes + c.y.tap(ky) * chunk.row_bytes;
        for (int64_t kx = 0; kx < c.x.kernel; ++kx) {
          const int64_t offset = row + c.x.tap(kx) * kHostBlock;
          for (int32_t quad = 0; quad < quads; ++quad) {
            __m512i w[kVectors];
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) w[v] = _mm512_load_si512(weights + v * 64);
#pragma GCC unroll 14
            for (int p = 0; p < kPixels; ++p) {
              int32_t four;
              __builtin_memcpy(&four, x[p] + offset + quad * 4, sizeof four);
              const __m512i spread = _mm512_set1_epi32(four);
#pragma GCC unroll 4
              for (int v = 0; v < kVectors; ++v) {
                sum[p][v] = _mm512_dpbusd_epi32(sum[p][v], spread, w[v]);
              }
            }
            weights += kVectors * 64;
          }
        }
      }
    }
  }
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) _mm512_store_si512(acc[p] + v * kVector, sum[p][v]);
  }
}

// All pixels of a band. The last tile repeats its last pixel; its surplus sums land in rows of acc that nobody reads,
// which is why acc has room for whole tiles.
template <int kPixels, int kVectors>
void multiply_band(const Context& c, const Band& band, const Chunk& chunk, const int8_t* weights,
                   bool first, Scratch& scratch) {
  static_assert(kBandPixels % kPixels == 0);
  for (int64_t pixel = 0; pixel < band.pixels(); pixel += kPixels) {
    const uint8_t* at[kPixels];
    for (int p = 0; p < kPixels; ++p) {
      const int64_t index = smaller(pixel + p, band.pixels() - 1);
      const int64_t row = index / band.columns * c.y.step;
      const int64_t column = index % band.columns * c.x.step;
      at[p] = scratch.pixels + (row * band.scratch_columns + column) * kHostBlock;
    }
    multiply_tile<kPixels, kVectors>(c, chunk, at, weights, first, scratch.acc + pixel);
  }
}

void multiply(const Context& c, const Band& band, const Chunk& chunk, const int8_t* weights,
              int32_t vectors, bool first, Scratch& scratch) {
  switch (vectors) {
    case 1:
      multiply_band<12, 1>(c, band, chunk, weights, first, scratch);
      break;
    case 2:
      multiply_band<12, 2>(c, band, chunk, weights, first, scratch);
      break;
    case 3:
      multiply_band<8, 3>(c, band, chunk, weights, first, scratch);
      break;
    default:
      multiply_band<6, 4>(c, band, chunk, weights, first, scratch);
      break;
  }
}

// The stages after the sum, for 16 channels of one block at a time.
struct FloatStages {
  __m512 multiplier, residual_scale, residual_offset, clip, out_scale;
  __m512i unmagic;  // bits of the magic number less the zero point
  bool relu, clipped, relu_after_add;

  FloatStages(const ConvI8Params& p, const float* m) {
    multiplier = _mm512_loadu_ps(m);
    residual_scale = _mm512_set1_ps(scale(p.residual_scale));
    residual_offset = _mm512_set1_ps(static_cast<float>(p.residual_offset));
    clip = _mm512_set1_ps(static_cast<float>(p.clip));
    out_scale = _mm512_set1_ps(scale(p.output.scale));
    unmagic =
        _mm512_sub_epi32(_mm512_castps_si512(magic()), _mm512_set1_epi32(p.output.zero_point));
    relu = p.activation != Activation::kNone;
    clipped = p.activation == Activation::kClip;
    relu_after_add = p.relu_after_add;
  }
  // 24 bits times a power of two: exact.
  static float scale(ScaleShift s) {
    return static_cast<float>(s.scale) / static_cast<float>(uint64_t{1} << s.shift);
  }
  static __m512 magic() { return _mm512_set1_ps(12582912.0f); }
  static __m512 scaled(__m512 v, __m512 scale) {
    return _mm512_sub_ps(_mm512_fmadd_round_ps(v, scale, magic(), kNearest), magic());
  }

  __m128i apply(__m512i acc, const int8_t* residual) const {
    const __m512 zero = _mm512_setzero_ps();
    __m512 v = scaled(_mm512_cvtepi32_ps(acc), multiplier);
    if (relu) v = _mm512_max_ps(v, zero);
    if (clipped) v = _mm512_min_ps(v, clip);
    if (residual != nullptr) {
      const __m128i e = _mm_loadu_si128(reinterpret_cast<const __m128i*>(residual));
      const __m512 wide = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(e));
      v = _mm512_add_ps(v, scaled(_mm512_add_ps(wide, residual_offset), residual_scale));
    }
    if (relu_after_add) v = _mm512_max_ps(v, zero);
    const __m512 y = _mm512_fmadd_round_ps(v, out_scale, magic(), kNearest);
    return _mm512_cvtsepi32_epi8(_mm512_sub_epi32(_mm512_castps_si512(y), unmagic));
  }
};

struct DoubleStages {
  __m512d multiplier[2], residual_scale, residual_offset, clip, out_scale;
  __m256i zero_point;
  bool relu, clipped, relu_after_add;

  DoubleStages(const ConvI8Params& p, const float* m) {
    multiplier[0] = _mm512_cvtps_pd(_mm256_loadu_ps(m));
    multiplier[1] = _mm512_cvtps_pd(_mm256_loadu_ps(m + 8));
    residual_scale = _mm512_set1_pd(scale(p.residual_scale));
    residual_offset = _mm512_set1_pd(p.residual_offset);
    clip = _mm512_set1_pd(p.clip);
    out_scale = _mm512_set1_pd(scale(p.output.scale));
    zero_point = _mm256_set1_epi32(p.output.zero_point);
    relu = p.activation != Activation::kNone;
    clipped = p.activation == Activation::kClip;
    relu_after_add = p.relu_after_add;
  }
  static double scale(ScaleShift s) {
    return static_cast<double>(s.scale) / static_cast<double>(uint64_t{1} << s.shift);
  }
  static __m512d scaled(__m512d v, __m512d scale) {
    const __m512d magic = _mm512_set1_pd(6755399441055744.0);
    return _mm512_sub_pd(_mm512_fmadd_round_pd(v, scale, magic, kNearest), magic);
  }

  __m256i half(__m256i acc, __m512d m, __m128i residual, bool has_residual) const {
    const __m512d zero = _mm512_setzero_pd();
    __m512d v = scaled(_mm512_cvtepi32_pd(acc), m);
    if (relu) v = _mm512_max_pd(v, zero);
    if (clipped) v = _mm512_min_pd(v, clip);
    if (has_residual) {
      const __m512d wide = _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(residual));
      v = _mm512_add_pd(v, scaled(_mm512_add_pd(wide, residual_offset), residual_scale));
    }
    if (relu_after_add) v = _mm512_max_pd(v, zero);
    // Far beyond int8 and its zero point, and inside int32.
    const __m512d limit = _mm512_set1_pd(1 << 30);
    __m512d y = scaled(v, out_scale);
    y = _mm512_max_pd(_mm512_min_pd(y, limit), _mm512_sub_pd(zero, limit));
    return _mm256_add_epi32(_mm512_cvtpd_epi32(y), zero_point);
  }

  __m128i apply(__m512i acc, const int8_t* residual) const {
    const bool has_residual = residual != nullptr;
    const __m128i e = has_residual ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(residual))
                                   : _mm_setzero_si128();
    const __m256i low = half(_mm512_castsi512_si256(acc), multiplier[0], e, has_residual);
    const __m256i high =
        half(_mm512_extracti64x4_epi64(acc, 1), multiplier[1], _mm_srli_si128(e, 8), has_residual);
    return _mm512_cvtsepi32_epi8(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
  }
};

// Output and residual of one block, at the band's first pixel; rows are `stride` elements apart.
struct Target {
  int8_t* output;
  const int8_t* residual;
  int64_t stride;
};

Target target_of(const Context& c, const Band& band, int64_t n, int64_t block) {
  const int64_t at =
      block * c.out_plane + (band.oy * c.extents.out.w + band.ox) * int64_t{kHostBlock};
  const int8_t* const residual = c.residual(n);
  return {c.output(n) + at, residual != nullptr ? residual + at : nullptr,
          int64_t{c.extents.out.w} * kHostBlock};
}

// totals[pixel] = sum of the inputs that output pixel reads: first down the kernel's rows, then along them. Wraps with the
// accumulators.
void sum_inputs(const Context& c, const Band& band, const uint64_t (*sums)[2], uint32_t* totals) {
  uint32_t down[kScratchPixels];
  for (int64_t row = 0; row < band.rows; ++row) {
    const int64_t first = row * c.y.step;
    for (int64_t i = 0; i < band.scratch_columns; ++i) down[i] = 0;
    for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
      const uint64_t(*const part)[2] = sums + (first + ky * c.y.dilation) * band.scratch_columns;
      for (int64_t i = 0; i < band.scratch_columns; ++i) {
        down[i] += static_cast<uint32_t>(part[i][0] + part[i][1]);
      }
    }
    for (int64_t column = 0; column < band.columns; ++column) {
      uint32_t total = 0;
      for (int64_t kx = 0; kx < c.x.kernel; ++kx) {
        total += down[column * c.x.step + kx * c.x.dilation];
      }
      *totals++ = total;
    }
  }
}

template <typename Stages>
void finish_band(const Context& c, const Band& band, int64_t n, int32_t tile, int32_t vectors,
                 Scratch& scratch) {
  uint32_t totals[kBandPixels];
  if (c.constants.sums) sum_inputs(c, band, scratch.sums, totals);
  for (int32_t v = 0; v < vectors; ++v) {
    const int64_t lane = tile * kTile + v * kVector;
    const Stages stages(c.params, c.constants.multiplier + lane);
    const __m512i base = _mm512_loadu_si512(c.constants.base + lane);
    const __m512i offset = _mm512_loadu_si512(c.constants.offset + lane);
    const Target target = target_of(c, band, n, lane / kHostBlock);
    int64_t pixel = 0;
    for (int64_t row = 0; row < band.rows; ++row) {
      for (int64_t column = 0; column < band.columns; ++column, ++pixel) {
        const int64_t at = row * target.stride + column * kHostBlock;
        __m512i acc = _mm512_add_epi32(_mm512_load_si512(scratch.acc[pixel] + v * kVector), base);
        if (c.constants.sums) {
          const __m512i total = _mm512_set1_epi32(static_cast<int32_t>(totals[pixel]));
          acc = _mm512_add_epi32(acc, _mm512_mullo_epi32(total, offset));
        }
        const __m128i y =
            stages.apply(acc, target.residual != nullptr ? target.residual + at : nullptr);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(target.output + at), y);
      }
    }
  }
}

void dense_band(const Context& c, const Band& band, int64_t n, int32_t tile, Scratch& scratch) {
  const BlockRange blocks = tile_input_blocks(c.filter, tile, kTile);
  const int64_t channels = smaller(kTile, c.filter.out_channels - tile * kTile);
  const int32_t vectors = static_cast<int32_t>((channels + kVector - 1) / kVector);
  const int64_t taps = c.y.kernel * c.x.kernel;
  const int64_t tile_bytes = int64_t{max_tile_input_blocks(c.filter, kTile)} * c.constants.planes *
                             taps * kHostBlock * kTile;
  const auto* weights =
      reinterpret_cast<const int8_t*>(c.args.packed->weights.data()) + tile * tile_bytes;
  const int64_t block_bytes = band.block_bytes();
  const int64_t chunk_blocks = kScratchBytes / block_bytes;
  const int64_t scratch_pixels = band.scratch_rows * band.scratch_columns;
  if (c.constants.sums) std::memset(scratch.sums, 0, static_cast<size_t>(scratch_pixels + 4) * 16);
  for (int64_t block = blocks.begin; block < blocks.end; block += chunk_blocks) {
    const int64_t count = smaller(chunk_blocks, blocks.end - block);
    for (int64_t i = 0; i < count; ++i) {
      const int32_t lanes = lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block + i));
      uint8_t* const to = scratch.pixels + i * block_bytes;
      load_block(c, band, c.image(n) + (block + i) * c.in_plane, lanes, to);
      if (c.constants.sums) add_sums(to, scratch_pixels, scratch.sums);
    }
    const int32_t last_lanes =
        lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block + count - 1));
    const int32_t last_quads = (last_lanes + 3) / 4;
    const Chunk chunk = {count, last_quads, block_bytes, band.scratch_columns * kHostBlock};
    multiply(c, band, chunk, weights, vectors, block == blocks.begin, scratch);
    weights += ((count - 1) * 4 + last_quads) * c.constants.planes * taps * vectors * 64;
  }
  if (c.constants.float_route) {
    finish_band<FloatStages>(c, band, n, tile, vectors, scratch);
  } else {
    finish_band<DoubleStages>(c, band, n, tile, vectors, scratch);
  }
}

// kPixels neighbouring outputs of one block: each row of the kernel is one permutation to [16 channels][4 taps] and one
// dot product, with kSums a second one that adds up the inputs for the weight offset.
template <int kPixels, bool kSums, typename Stages>
inline void depthwise_pixels(const Context& c, const uint8_t* from, int64_t row_bytes,
                             const int8_t* weights, int64_t groups, __m512i base, __m512i offset,
                             const Stages& stages, const int8_t* residual, int8_t* output) {
  alignas(64) static constexpr uint8_t kTranspose[64] = {
      0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51, 4,  20, 36, 52, 5,  21,
      37, 53, 6,  22, 38, 54, 7,  23, 39, 55, 8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58,
      11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63};
  const __m512i transpose = _mm512_load_si512(kTranspose);
  const int64_t step = c.x.step * kHostBlock;
  __m512i acc[kPixels], sum[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    acc[p] = base;
    sum[p] = _mm512_setzero_si512();
  }
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    const uint8_t* const row = from + ky * c.y.dilation * row_bytes;
    for (int64_t group = 0; group < groups; ++group) {
      __m512i x[kPixels];
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        x[p] = _mm512_permutexvar_epi8(transpose, _mm512_loadu_si512(row + group * 64 + p * step));
      }
      const __m512i w = _mm512_load_si512(weights);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) acc[p] = _mm512_dpbusd_epi32(acc[p], x[p], w);
      weights += 64;
      if constexpr (!kSums) continue;
      const __m512i ones = _mm512_load_si512(weights);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) sum[p] = _mm512_dpbusd_epi32(sum[p], x[p], ones);
      weights += 64;
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    if constexpr (kSums) acc[p] = _mm512_add_epi32(acc[p], _mm512_mullo_epi32(sum[p], offset));
    const __m128i y =
        stages.apply(acc[p], residual != nullptr ? residual + p * kHostBlock : nullptr);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(output) + p, y);
  }
}

template <typename Stages, bool kSums>
void depthwise_block(const Context& c, const Band& band, int64_t n, int64_t block,
                     Scratch& scratch) {
  const int32_t lanes = lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block));
  load_block(c, band, c.image(n) + block * c.in_plane, lanes, scratch.pixels);
  const int64_t groups = tap_groups(c.filter);
  const auto* const weights = reinterpret_cast<const int8_t*>(c.args.packed->weights.data()) +
                              block * c.y.kernel * groups * c.constants.planes * 64;
  const Stages stages(c.params, c.constants.multiplier + block * kHostBlock);
  const __m512i base = _mm512_loadu_si512(c.constants.base + block * kHostBlock);
  const __m512i offset = _mm512_loadu_si512(c.constants.offset + block * kHostBlock);
  const Target target = target_of(c, band, n, block);
  const int64_t row_bytes = band.scratch_columns * kHostBlock;
  for (int64_t row = 0; row < band.rows; ++row) {
    const uint8_t* const from = scratch.pixels + row * c.y.step * row_bytes;
    auto pixels = [&]<int kPixels>(int64_t column) {
      const int64_t at = row * target.stride + column * kHostBlock;
      depthwise_pixels<kPixels, kSums>(
          c, from + column * c.x.step * kHostBlock, row_bytes, weights, groups, base, offset,
          stages, target.residual != nullptr ? target.residual + at : nullptr, target.output + at);
    };
    int64_t column = 0;
    for (; column + 4 <= band.columns; column += 4) pixels.template operator()<4>(column);
    for (; column < band.columns; ++column) pixels.template operator()<1>(column);
  }
}

template <typename Stages>
void depthwise_blocks(const Context& c, const Band& band, int64_t n, int32_t tile,
                      Scratch& scratch) {
  const int64_t blocks = channel_blocks(c.filter.out_channels);
  for (int64_t block = tile * 4; block < smaller(tile * 4 + 4, blocks); ++block) {
    if (c.constants.sums) {
      depthwise_block<Stages, true>(c, band, n, block, scratch);
    } else {
      depthwise_block<Stages, false>(c, band, n, block, scratch);
    }
  }
}

void depthwise_band(const Context& c, const Band& band, int64_t n, int32_t tile, Scratch& scratch) {
  if (c.constants.float_route) {
    depthwise_blocks<FloatStages>(c, band, n, tile, scratch);
  } else {
    depthwise_blocks<DoubleStages>(c, band, n, tile, scratch);
  }
}

// Rows and columns of the bands of one run of output rows: whole rows while they fit, else pieces of one row. Packing
// has checked that 12 columns of one row fit.
struct BandSize {
  int64_t rows;
  int64_t columns;
};

BandSize band_size(const Context& c, int64_t rows_left, int64_t pixel_limit) {
  int64_t columns = smaller(c.extents.out.w, pixel_limit);
  int64_t rows = columns == c.extents.out.w ? smaller(rows_left, pixel_limit / columns) : 1;
  while (c.y.span(rows) * (c.x.span(columns) + 3) > kScratchPixels) {
    if (rows > 1) {
      rows = (rows + 1) / 2;
    } else {
      columns = (columns + 1) / 2;
    }
  }
  return {rows, columns};
}

}  // namespace

void run(const ConvI8Args& args, IndexRange units) {
  const Context c(args);
  const bool depthwise = c.filter.depthwise();
  const int64_t tiles = (c.filter.out_channels + kTile - 1) / kTile;
  const int64_t height = c.extents.out.h;
  const int64_t width = c.extents.out.w;
  Scratch scratch;
  for (int64_t unit = units.begin; unit < units.end;) {
    const int64_t oy = unit % height;
    const auto tile = static_cast<int32_t>(unit / height % tiles);
    const int64_t n = unit / height / tiles;
    const int64_t rows_left = smaller(height - oy, units.end - unit);
    const BandSize size = band_size(c, rows_left, depthwise ? kScratchPixels : kBandPixels);
    for (int64_t ox = 0; ox < width; ox += size.columns) {
      const int64_t columns = smaller(size.columns, width - ox);
      const Band band = {oy, ox, size.rows, columns, c.y.span(size.rows), c.x.span(columns)};
      if (depthwise) {
        depthwise_band(c, band, n, tile, scratch);
      } else {
        dense_band(c, band, n, tile, scratch);
      }
    }
    unit += size.rows;
  }
}

}  // namespace rk::kernels::vnni

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // x86-64
