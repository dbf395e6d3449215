// SPDX-License-Identifier: Apache-2.0
// What the dense and the depthwise half of conv_i8__avx512vnni_6x64 share: loading a band's input and turning sums into
// bytes. Includes intrinsics: only for files that RK_AVX512_BEGIN frames.
//
// Rounding to nearest even is a fused multiply-add onto 1.5 * 2^23 (or 2^52), which leaves the rounded integer in the
// mantissa; the sum's start value makes its bits a float (or half a double) already. The instruction carries its
// rounding mode, because the host program may have changed MXCSR. 126 million results were compared with the integer rule.
#pragma once

#include <cstring>

#include "kernels/conv/conv.h"
#include "kernels/conv/x86_avx512vnni.h"
#include "kernels/x86_avx512.h"

RK_AVX512_BEGIN

namespace rk::kernels::vnni {

struct Scratch {
  alignas(64)
      uint8_t pixels[kScratchPixels * kHostBlock + 64];  // loads of 4 pixels may run past the last
  alignas(64) int32_t acc[kBandPixels * kTile];          // [pixel][vectors of the tile][16]
  alignas(64) uint64_t parts[kScratchPixels + 8][2];     // sums of inputs of each scratch pixel
  alignas(64) int32_t totals[kBandPixels + 16];  // sums of inputs of each output pixel, as a pair
  BandPlaces<kBandPixels> places;
  int32_t offsets[kMaxTaps];  // of each tap of a chunk of blocks
};

void depthwise_band(const ConvI8Args& args, const Band& band, TileRange tiles, int64_t n,
                    Scratch& scratch);

namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

struct Context {
  const ConvI8Args& args;
  const ConvI8Params& params;
  const ConvFilter& filter;
  ConvExtents extents;  // counted_extents
  Constants constants;
  AxisPlan y, x;
  // Elements from one pixel and from one block to the next.
  int64_t in_pixel, in_plane;
  int64_t out_pixel, residual_pixel, out_plane;

  explicit Context(const ConvI8Args& a)
      : args(a),
        params(a.packed->params),
        filter(params.filter),
        extents(counted_extents(filter, a.extents)),
        y(axis_plan(filter, true)),
        x(axis_plan(filter, false)),
        in_pixel(kHostBlock),
        in_plane(int64_t{extents.in.h} * extents.in.w * kHostBlock),
        out_pixel(kHostBlock),
        residual_pixel(kHostBlock),
        out_plane(int64_t{extents.out.h} * extents.out.w * kHostBlock) {
    std::memcpy(&constants, a.packed->constants.data(), sizeof constants);
    if (is_matrix_product(filter, a.extents)) {
      in_plane = out_plane = kHostBlock;
      residual_pixel = int64_t{channel_blocks(filter.out_channels)} * kHostBlock;
      in_pixel = a.input_batch_stride != 0
                     ? a.input_batch_stride
                     : int64_t{channel_blocks(filter.in_channels)} * kHostBlock;
      out_pixel = a.output_batch_stride != 0 ? a.output_batch_stride : residual_pixel;
    }
  }

  const int8_t* image(int64_t n) const {
    const int64_t dense = channel_blocks(filter.in_channels) * in_plane;
    return args.input + n * (args.input_batch_stride != 0 ? args.input_batch_stride : dense);
  }
  const int8_t* weights() const {
    return reinterpret_cast<const int8_t*>(args.packed->weights.data());
  }
};

inline void fill_border(uint8_t* to, int64_t pixels, __m128i border) {
  for (int64_t i = 0; i < pixels; ++i) _mm_store_si128(reinterpret_cast<__m128i*>(to) + i, border);
}

// Biased copy of whole pixels; `keep` clears padding lanes.
inline void copy_pixels(const int8_t* from, uint8_t* to, int64_t pixels, __m128i keep) {
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
inline void load_block(const Context& c, const Band& band, const int8_t* plane, int32_t lanes,
                       uint8_t* scratch) {
  const __m128i keep = _mm_movm_epi8(static_cast<__mmask16>((1u << lanes) - 1));
  const __m128i border =
      _mm_and_si128(_mm_set1_epi8(static_cast<char>(c.params.input_zero_point ^ 0x80)), keep);
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  for (int64_t r = 0; r < band.scratch_rows; ++r, scratch += columns * kHostBlock) {
    const int64_t iy = c.y.source(top + r, c.extents.in.h);
    if (iy < 0) {
      fill_border(scratch, columns, border);
      continue;
    }
    const int8_t* const row = plane + iy * c.extents.in.w * c.in_pixel;
    if (c.x.stuffing != 1) {
      fill_border(scratch, columns, border);
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t ix = c.x.source(left + i, c.extents.in.w);
        if (ix >= 0) copy_pixels(row + ix * kHostBlock, scratch + i * kHostBlock, 1, keep);
      }
      continue;
    }
    const RowPart part = row_part(left, columns, c.extents.in.w);
    const int64_t after = part.before + part.body;
    fill_border(scratch, part.before, border);
    copy_pixels(row + (left + part.before) * kHostBlock, scratch + part.before * kHostBlock,
                part.body, keep);
    fill_border(scratch + after * kHostBlock, columns - after, border);
  }
}

// 24 bits times a power of two: exact.
inline float exact_scale(ScaleShift s) {
  return static_cast<float>(s.scale) / static_cast<float>(uint64_t{1} << s.shift);
}
inline double exact_wide_scale(ScaleShift s) {
  return static_cast<double>(s.scale) / static_cast<double>(uint64_t{1} << s.shift);
}

// Both routes: sums of 16 lanes from lane `lane` on, and 16 bytes of residual, to integers before the zero point.
template <bool kResidual>
struct FloatRoute {
  const float *multiplier, *addend;
  __m512 residual_offset, residual_scale, first_low, first_high, out_scale, magic;

  FloatRoute(const ConvI8Params& p, const Constants& k)
      : multiplier(k.multiplier),
        addend(k.addend),
        residual_offset(_mm512_set1_ps(static_cast<float>(p.residual_offset))),
        residual_scale(_mm512_set1_ps(exact_scale(p.residual_scale))),
        first_low(_mm512_set1_ps(k.clip_first ? kMagic : -kMagic)),
        first_high(_mm512_set1_ps(k.clip_first && p.activation == Activation::kClip
                                      ? kMagic + static_cast<float>(p.clip)
                                      : 3 * kMagic)),
        out_scale(_mm512_set1_ps(exact_scale(p.output.scale))),
        magic(_mm512_set1_ps(kMagic)) {}

  __m512i apply(__m512i acc, int64_t lane, __m128i e) const {
    __m512 v = _mm512_fmadd_round_ps(_mm512_castsi512_ps(acc), _mm512_load_ps(multiplier + lane),
                                     _mm512_load_ps(addend + lane), kNearest);
    if constexpr (kResidual) {
      v = _mm512_min_ps(_mm512_max_ps(v, first_low), first_high);
      const __m512 wide = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(e));
      const __m512 term = _mm512_fmadd_round_ps(_mm512_add_ps(wide, residual_offset),
                                                residual_scale, magic, kNearest);
      v = _mm512_add_ps(_mm512_sub_ps(v, magic), _mm512_sub_ps(term, magic));
    } else {
      v = _mm512_sub_ps(v, magic);
    }
    v = _mm512_fmadd_round_ps(v, out_scale, magic, kNearest);
    return _mm512_sub_epi32(_mm512_castps_si512(v), _mm512_castps_si512(magic));
  }
};

template <bool kResidual>
struct DoubleRoute {
  const double *multiplier, *addend;
  __m512d residual_offset, residual_scale, first_low, first_high, out_scale, magic;

  DoubleRoute(const ConvI8Params& p, const Constants& k)
      : multiplier(k.wide_multiplier),
        addend(k.wide_addend),
        residual_offset(_mm512_set1_pd(p.residual_offset)),
        residual_scale(_mm512_set1_pd(exact_wide_scale(p.residual_scale))),
        first_low(_mm512_set1_pd(k.clip_first ? kWideMagic : -kWideMagic)),
        first_high(_mm512_set1_pd(k.clip_first && p.activation == Activation::kClip
                                      ? kWideMagic + p.clip
                                      : 3 * kWideMagic)),
        out_scale(_mm512_set1_pd(exact_wide_scale(p.output.scale))),
        magic(_mm512_set1_pd(kWideMagic)) {}

  __m512d half(__m512i sum, int64_t at, __m256i e) const {
    __m512d v = _mm512_fmadd_round_pd(_mm512_castsi512_pd(sum), _mm512_load_pd(multiplier + at),
                                      _mm512_load_pd(addend + at), kNearest);
    if constexpr (kResidual) {
      v = _mm512_min_pd(_mm512_max_pd(v, first_low), first_high);
      const __m512d wide = _mm512_add_pd(_mm512_cvtepi32_pd(e), residual_offset);
      const __m512d term = _mm512_fmadd_round_pd(wide, residual_scale, magic, kNearest);
      v = _mm512_add_pd(_mm512_sub_pd(v, magic), _mm512_sub_pd(term, magic));
    } else {
      v = _mm512_sub_pd(v, magic);
    }
    return _mm512_fmadd_round_pd(v, out_scale, magic, kNearest);
  }

  __m512i apply(__m512i acc, int64_t lane, __m128i e) const {
    const __m512i high = _mm512_set1_epi32(0x43300000);
    __m256i e_low = _mm256_setzero_si256(), e_high = e_low;
    if constexpr (kResidual) {
      const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
      const __m512i wide = _mm512_permutexvar_epi32(order, _mm512_cvtepi8_epi32(e));
      e_low = _mm512_castsi512_si256(wide);
      e_high = _mm512_extracti64x4_epi64(wide, 1);
    }
    const __m512d low = half(_mm512_unpacklo_epi32(acc, high), lane, e_low);
    const __m512d rest = half(_mm512_unpackhi_epi32(acc, high), lane + 8, e_high);
    return _mm512_castps_si512(
        _mm512_shuffle_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(rest), 0x88));
  }
};

// Where the results of one tile and band go.
struct Target {
  int8_t* output;          // first block of the tile, first pixel of the band
  const int8_t* residual;  // likewise, or null
  int64_t plane;           // elements from one block to the next
  int64_t blocks;          // of the tile

  Target(const Context& c, const Band& band, int64_t n, int64_t first_block, int64_t most) {
    const int64_t dense = channel_blocks(c.filter.out_channels) * c.out_plane;
    const int64_t stride = c.args.output_batch_stride != 0 ? c.args.output_batch_stride : dense;
    const int64_t first = band.oy * c.extents.out.w + band.ox;
    output = c.args.output + n * stride + first_block * c.out_plane + first * c.out_pixel;
    residual = c.params.has_residual ? c.args.residual + n * dense + first_block * c.out_plane +
                                           first * c.residual_pixel
                                     : nullptr;
    plane = c.out_plane;
    blocks = smaller(most, channel_blocks(c.filter.out_channels) - first_block);
  }
};

// Sums of `pixels` pixels to bytes, four vectors at a time: those of one, two or four pixels.
struct Finish {
  const Context& c;
  const Target& target;
  int64_t lane;           // of the tile's constants
  const int32_t* acc;     // [pixel][kVectors][16]; readable up to a multiple of four vectors
  const int32_t* totals;  // sums of inputs per pixel, if constants.sums; readable likewise
  const int32_t* places;  // of pixels in the output
  int64_t pixels;
};

template <int kVectors>
inline __m512i residual_order(__m512i e) {
  if constexpr (kVectors == 1) return e;
  const __m512i order =
      kVectors == 2 ? _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15)
                    : _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, e);
}

template <int kVectors>
inline __m512i block_order(__m512i bytes) {
  if constexpr (kVectors == 4) return bytes;
  if constexpr (kVectors == 2) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), bytes);
  }
  return residual_order<4>(bytes);
}

// What finish_group reads, as locals of finish_pixels: the bytes it stores could alias anything else.
struct FinishConstants {
  const int32_t *acc, *totals, *places, *offset_pair;
  int8_t* output;
  const int8_t* residual;
  int64_t pixel, residual_pixel, plane, lane, pixels, blocks;
  __m512i zero_point, low, high;
  bool sums;

  explicit FinishConstants(const Finish& f)
      : acc(f.acc),
        totals(f.totals),
        places(f.places),
        offset_pair(f.c.constants.offset_pair),
        output(f.target.output),
        residual(f.target.residual),
        pixel(f.c.out_pixel),
        residual_pixel(f.c.residual_pixel),
        plane(f.target.plane),
        lane(f.lane),
        pixels(f.pixels),
        blocks(f.target.blocks),
        zero_point(_mm512_set1_epi16(static_cast<int16_t>(f.c.params.output.zero_point))),
        low(_mm512_set1_epi8(f.c.constants.low)),
        high(_mm512_set1_epi8(f.c.constants.high)),
        sums(f.c.constants.sums) {}
};

// Four vectors from pixel i on. With kWhole all of them are wanted and pixels are
// neighbours, else those of existing pixels and blocks.
template <int kVectors, bool kResidual, bool kWhole, typename Route>
inline __attribute__((always_inline)) void finish_group(const FinishConstants& k,
                                                        const Route& route, int64_t i) {
  const auto live = [&](int q) {
    return kWhole || (i + q / kVectors < k.pixels && q % kVectors < k.blocks);
  };
  const auto at = [&](int q, int64_t pixel) {
    if (!live(q)) return int64_t{0};
    return k.places[i + q / kVectors] * (kWhole ? int64_t{kHostBlock} : pixel) +
           q % kVectors * k.plane;
  };
  __m512i e = _mm512_setzero_si512();
  if constexpr (kResidual) {
    const auto piece = [&](int q) {
      return _mm_loadu_si128(
          reinterpret_cast<const __m128i*>(k.residual + at(q, k.residual_pixel)));
    };
    e = _mm512_inserti32x4(_mm512_castsi128_si512(piece(0)), piece(1), 1);
    e = _mm512_inserti32x4(_mm512_inserti32x4(e, piece(2), 2), piece(3), 3);
    e = residual_order<kVectors>(e);
  }
  const __m128i addends[4] = {_mm512_castsi512_si128(e), _mm512_extracti32x4_epi32(e, 1),
                              _mm512_extracti32x4_epi32(e, 2), _mm512_extracti32x4_epi32(e, 3)};
  __m512i y[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const int64_t lane = k.lane + q % kVectors * kVector;
    __m512i sum = _mm512_load_si512(k.acc + (i * kVectors + q) * kVector);
    if (k.sums) {
      sum = _mm512_dpwssd_epi32(sum, _mm512_set1_epi32(k.totals[i + q / kVectors]),
                                _mm512_load_si512(k.offset_pair + lane));
    }
    y[q] = route.apply(sum, lane, addends[q]);
  }
  const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(y[0], y[1]), k.zero_point);
  const __m512i second = _mm512_adds_epi16(_mm512_packs_epi32(y[2], y[3]), k.zero_point);
  __m512i bytes = block_order<kVectors>(_mm512_packs_epi16(first, second));
  bytes = _mm512_min_epi8(_mm512_max_epi8(bytes, k.low), k.high);
  const auto store = [&](int q, __m128i piece) {
    if (live(q)) _mm_storeu_si128(reinterpret_cast<__m128i*>(k.output + at(q, k.pixel)), piece);
  };
  store(0, _mm512_castsi512_si128(bytes));
  store(1, _mm512_extracti32x4_epi32(bytes, 1));
  store(2, _mm512_extracti32x4_epi32(bytes, 2));
  store(3, _mm512_extracti32x4_epi32(bytes, 3));
}

template <int kVectors, typename Route, bool kResidual>
void finish_pixels(const Finish& f) {
  constexpr int kPixels = 4 / kVectors;
  const FinishConstants k(f);
  const Route route(f.c.params, f.c.constants);
  int64_t i = 0;
  if (k.blocks == kVectors && k.pixel == kHostBlock && k.residual_pixel == kHostBlock) {
    for (; i + kPixels <= k.pixels; i += kPixels)
      finish_group<kVectors, kResidual, true>(k, route, i);
  }
  for (; i < k.pixels; i += kPixels) finish_group<kVectors, kResidual, false>(k, route, i);
}

using FinishFunction = void (*)(const Finish&);

template <int kVectors>
FinishFunction finish_function(const Context& c) {
  const bool residual = c.params.has_residual;
  if (c.constants.float_route) {
    return residual ? finish_pixels<kVectors, FloatRoute<true>, true>
                    : finish_pixels<kVectors, FloatRoute<false>, false>;
  }
  return residual ? finish_pixels<kVectors, DoubleRoute<true>, true>
                  : finish_pixels<kVectors, DoubleRoute<false>, false>;
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512_END
