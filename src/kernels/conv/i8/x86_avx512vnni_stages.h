// SPDX-License-Identifier: Apache-2.0
// The stages after the sum of conv_i8__avx512vnni_6x64, on sums in registers. Includes intrinsics: only for files that
// RK_AVX512VBMI_BEGIN frames.
//
// Rounding to nearest even is a fused multiply-add onto 1.5 * 2^23 (or 2^52), which leaves the rounded integer in the
// mantissa; the sum's start value makes its bits a float (or half a double) already. The instruction carries its
// rounding mode, because the host program may have changed MXCSR. 126 million results were compared with the integer rule.
#pragma once

#include <utility>

#include "kernels/conv/conv.h"
#include "kernels/conv/i8/x86_avx512vnni.h"
#include "kernels/x86_avx512.h"

#define RK_INLINE inline __attribute__((always_inline))

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {
namespace {

// body(index) for 0..kCount - 1, each index a constant: arrays of vectors stay in registers for certain, which loops and
// their pragmas do not promise.
template <int kIndex>
struct Index {
  constexpr operator int() const { return kIndex; }
};
template <typename Body, int... kIndices>
RK_INLINE void unroll_over(std::integer_sequence<int, kIndices...>, const Body& body) {
  (body(Index<kIndices>{}), ...);
}
template <int kCount, typename Body>
RK_INLINE void unroll(const Body& body) {
  unroll_over(std::make_integer_sequence<int, kCount>{}, body);
}
#define RK_UNROLLED __attribute__((always_inline))

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

// 24 bits times a power of two: exact.
inline float exact_scale(ScaleShift s) {
  return static_cast<float>(s.scale) / static_cast<float>(uint64_t{1} << s.shift);
}
inline double exact_wide_scale(ScaleShift s) {
  return static_cast<double>(s.scale) / static_cast<double>(uint64_t{1} << s.shift);
}

// Both routes: the sums of 16 channels and 16 bytes of residual to integers that include the zero point.

// Where the bytes of a tile's pixels go and what they need on the way. A copy in a local variable stays in registers,
// whatever the bytes that are stored could alias.
struct Ending {
  int8_t* output;          // of the tile's first block
  const int8_t* residual;  // likewise
  const int32_t* places;   // of the pixels in the output, in pixels
  const int32_t* totals;   // sums of inputs of each pixel, if there are any
  const int32_t* offset_pair;
  int64_t pixel, residual_pixel, plane;  // elements from one pixel and from one block to the next
  int64_t channel;                       // the first of the tile
  __m512i low, high;
};

// Integers of four vectors to bytes, [first 16][second 16][third 16][fourth 16].
RK_INLINE __m512i to_bytes(const Ending& k, __m512i y0, __m512i y1, __m512i y2, __m512i y3) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(y0, y1), _mm512_packs_epi32(y2, y3));
  return _mm512_min_epi8(_mm512_max_epi8(_mm512_permutexvar_epi32(order, bytes), k.low), k.high);
}

// The byte of 64 segments in one row of a StepTable.
RK_INLINE __m512i look_up_row(const uint8_t* row, __m512i segment, __mmask64 upper) {
  const auto piece = [&](int i) RK_UNROLLED { return _mm512_load_si512(row + i * 64); };
  return _mm512_mask_mov_epi8(_mm512_permutex2var_epi8(piece(0), segment, piece(1)), upper,
                              _mm512_permutex2var_epi8(piece(2), segment, piece(3)));
}

// Segments and places in them, as words, of indices that are counted from the first.
struct Segments {
  __m512i segment, place;
};
RK_INLINE Segments segments_of(const StepTable& table, __m512i at) {
  const __m512i border = _mm512_set1_epi16(static_cast<int16_t>(table.border));
  const __mmask32 after = _mm512_cmpge_epu16_mask(at, border);
  const auto either = [&](int first, int second) RK_UNROLLED {
    return _mm512_mask_mov_epi16(_mm512_set1_epi16(static_cast<int16_t>(first)), after,
                                 _mm512_set1_epi16(static_cast<int16_t>(second)));
  };
  at = _mm512_mask_sub_epi16(at, after, at, border);
  const __m512i segment = _mm512_srlv_epi16(at, either(table.shift[0], table.shift[1]));
  const __m512i rest = either((1 << table.shift[0]) - 1, (1 << table.shift[1]) - 1);
  return {_mm512_or_si512(segment, either(0, kZoneSegments)), _mm512_and_si512(at, rest)};
}

// Bytes of four vectors of indices, counted from the first one; in the order of to_bytes.
__attribute__((noinline)) __m512i look_up_steps(const StepTable& table, __m512i t0, __m512i t1,
                                                __m512i t2, __m512i t3) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i most = _mm512_set1_epi16(static_cast<int16_t>(table.reach() - 1));
  // Saturation brings indices before the first and after the last segment to these.
  const Segments low = segments_of(table, _mm512_min_epu16(_mm512_packus_epi32(t0, t1), most));
  const Segments high = segments_of(table, _mm512_min_epu16(_mm512_packus_epi32(t2, t3), most));
  const __m512i segment =
      _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low.segment, high.segment));
  const __m512i place = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low.place, high.place));
  const __mmask64 upper = _mm512_movepi8_mask(segment);
  const __m512i one = _mm512_set1_epi8(1);
  const uint8_t* row = table.rows;
  __m512i y = look_up_row(row, segment, upper);
  for (int32_t i = 0; i < table.ups; ++i) {
    row += kStepSegments;
    const __m512i before = look_up_row(row, segment, upper);
    y = _mm512_mask_add_epi8(y, _mm512_cmpgt_epu8_mask(place, before), y, one);
  }
  for (int32_t i = 0; i < table.downs; ++i) {
    row += kStepSegments;
    const __m512i before = look_up_row(row, segment, upper);
    y = _mm512_mask_sub_epi8(y, _mm512_cmpgt_epu8_mask(place, before), y, one);
  }
  return y;
}

// The bytes at 16 indices, as integers.
RK_INLINE __m512i bytes_at(const int8_t* bytes, int32_t most, __m512i t) {
  const __m512i at =
      _mm512_min_epi32(_mm512_max_epi32(t, _mm512_setzero_si512()), _mm512_set1_epi32(most));
  return _mm512_srai_epi32(_mm512_slli_epi32(_mm512_i32gather_epi32(at, bytes, 1), 24), 24);
}

// How the float route gets from the first rounding to the second.
enum class Stages {
  kApart,     // takes 1.5 * 2^23 away in between
  kDirect,    // Constants::direct
  kResidual,  // adds the residual in between
  kLookup,    // the second one makes the index of a table
};

struct FloatConstants {
  const float *multiplier, *addend;
  __m512 residual_offset, residual_scale, first_low, first_high, out_scale, out_addend, magic;
  __m512 index_scale, lowest;  // of a lookup; the lowest index onto the magic number
  __m512i base;
  StepTable steps;
  const int8_t* index_bytes = nullptr;
  int32_t most_index = 0;  // that has a byte

  FloatConstants(const ConvI8Params& p, const Constants& k)
      : multiplier(k.multiplier),
        addend(k.addend),
        residual_offset(_mm512_set1_ps(static_cast<float>(p.residual_offset))),
        residual_scale(_mm512_set1_ps(exact_scale(p.residual_scale))),
        first_low(_mm512_set1_ps(k.clip_first ? kMagic : -kMagic)),
        first_high(_mm512_set1_ps(k.clip_first && p.activation == Activation::kClip
                                      ? kMagic + static_cast<float>(p.clip)
                                      : 3 * kMagic)),
        out_scale(_mm512_set1_ps(exact_scale(p.output.scale))),
        out_addend(_mm512_set1_ps(k.direct ? k.direct_addend : kMagic)),
        magic(_mm512_set1_ps(kMagic)),
        index_scale(magic),
        lowest(magic),
        base(_mm512_set1_epi32(static_cast<int32_t>(k.direct ? kDirectBits : kMagicBits) -
                               p.output.zero_point)),
        steps(k.steps) {
    if (k.ends != Ends::kLookup) return;
    const StageConstants& table = *k.stages;
    index_scale = _mm512_set1_ps(static_cast<float>(table.index_scale));
    lowest = _mm512_set1_ps(kMagic + static_cast<float>(table.lowest));
    base = _mm512_set1_epi32(static_cast<int32_t>(kMagicBits) +
                             (steps.rows != nullptr ? steps.first : table.lowest));
    index_bytes = table.bytes;
    most_index = table.highest - table.lowest;
  }
};

template <Stages kStages>
struct FloatRoute : FloatConstants {
  static constexpr bool kResidual = kStages == Stages::kResidual;
  struct Lanes {
    __m512 multiplier, addend;
  };
  using FloatConstants::FloatConstants;
  explicit FloatRoute(const FloatConstants& constants) : FloatConstants(constants) {}

  Lanes lanes(int64_t channel) const {
    return {_mm512_load_ps(multiplier + channel), _mm512_load_ps(addend + channel)};
  }

  RK_INLINE __m512i apply(__m512i sum, const Lanes& k, const int8_t* residual) const {
    __m512i e = _mm512_setzero_si512();
    if constexpr (kResidual)
      e = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(residual)));
    return apply_to(sum, k, e);
  }
  RK_INLINE __m512i apply_to(__m512i sum, const Lanes& k, __m512i residual) const {
    if constexpr (kStages == Stages::kLookup) {
      // What is too large for an exact index keeps its order, and lies beyond both ends of the table.
      const __m512 scaled =
          _mm512_fmadd_round_ps(_mm512_cvtepi32_ps(sum), k.multiplier, magic, kNearest);
      const __m512 index =
          _mm512_fmadd_round_ps(_mm512_sub_ps(scaled, magic), index_scale, magic, kNearest);
      return _mm512_sub_epi32(_mm512_castps_si512(_mm512_max_ps(index, lowest)), base);
    }
    __m512 v = _mm512_fmadd_round_ps(_mm512_castsi512_ps(sum), k.multiplier, k.addend, kNearest);
    if constexpr (kResidual) {
      v = _mm512_min_ps(_mm512_max_ps(v, first_low), first_high);
      const __m512 wide = _mm512_add_ps(_mm512_cvtepi32_ps(residual), residual_offset);
      const __m512 term = _mm512_fmadd_round_ps(wide, residual_scale, magic, kNearest);
      v = _mm512_add_ps(_mm512_sub_ps(v, magic), _mm512_sub_ps(term, magic));
    } else if constexpr (kStages == Stages::kApart) {
      v = _mm512_sub_ps(v, magic);
    }
    v = _mm512_fmadd_round_ps(v, out_scale, out_addend, kNearest);
    return _mm512_sub_epi32(_mm512_castps_si512(v), base);
  }

  // Of four results of apply().
  RK_INLINE __m512i bytes(const Ending& k, __m512i y0, __m512i y1, __m512i y2, __m512i y3) const {
    if constexpr (kStages == Stages::kLookup) {
      if (steps.rows != nullptr) return look_up_steps(steps, y0, y1, y2, y3);
      const auto at = [&](__m512i t) RK_UNROLLED { return bytes_at(index_bytes, most_index, t); };
      return to_bytes(k, at(y0), at(y1), at(y2), at(y3));
    }
    return to_bytes(k, y0, y1, y2, y3);
  }
};

template <bool kWithResidual>
struct DoubleRoute {
  static constexpr bool kResidual = kWithResidual;
  struct Lanes {
    const double *multiplier, *addend;
  };
  const double *multiplier, *addend;
  __m512d residual_offset, residual_scale, first_low, first_high, out_scale, magic;
  __m512i zero_point;

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
        magic(_mm512_set1_pd(kWideMagic)),
        zero_point(_mm512_set1_epi32(p.output.zero_point)) {}

  Lanes lanes(int64_t channel) const { return {multiplier + channel, addend + channel}; }

  __m512d half(__m512i sum, const Lanes& k, int64_t at, __m256i e) const {
    __m512d v = _mm512_fmadd_round_pd(_mm512_castsi512_pd(sum), _mm512_load_pd(k.multiplier + at),
                                      _mm512_load_pd(k.addend + at), kNearest);
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

  __m512i apply(__m512i sum, const Lanes& k, const int8_t* residual) const {
    const __m512i high = _mm512_set1_epi32(0x43300000);
    __m256i e_low = _mm256_setzero_si256(), e_high = e_low;
    if constexpr (kResidual) {
      const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
      const __m512i wide = _mm512_permutexvar_epi32(
          order, _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(residual))));
      e_low = _mm512_castsi512_si256(wide);
      e_high = _mm512_extracti64x4_epi64(wide, 1);
    }
    const __m512d low = half(_mm512_unpacklo_epi32(sum, high), k, 0, e_low);
    const __m512d rest = half(_mm512_unpackhi_epi32(sum, high), k, 8, e_high);
    const __m512i y =
        _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(rest), 0x88));
    return _mm512_add_epi32(y, zero_point);
  }

  RK_INLINE __m512i bytes(const Ending& k, __m512i y0, __m512i y1, __m512i y2, __m512i y3) const {
    return to_bytes(k, y0, y1, y2, y3);
  }
};

// A slope below zero, as FinishStaged of lane_finish.h goes it.
template <bool kWithResidual>
struct SlopeRoute {
  static constexpr bool kResidual = kWithResidual;
  struct Lanes {
    const double *multiplier, *below;
  };
  const double *multiplier, *below;
  __m512d unit, positive_scale, negative_first_scale;
  __m512d residual_offset, residual_scale, low_after, out_scale, magic;
  __m512i zero_point;

  SlopeRoute(const ConvI8Params& p, const Constants& k)
      : multiplier(k.slope_multiplier),
        below(k.slope_below),
        unit(_mm512_set1_pd(exact_wide_scale({1, p.multiplier_shift}))),
        positive_scale(_mm512_set1_pd(k.stages->positive_scale)),
        negative_first_scale(_mm512_set1_pd(k.stages->negative_first_scale)),
        residual_offset(_mm512_set1_pd(p.residual_offset)),
        residual_scale(_mm512_set1_pd(exact_wide_scale(p.residual_scale))),
        low_after(_mm512_set1_pd(p.relu_after_add ? 0 : -kWideMagic)),
        out_scale(_mm512_set1_pd(exact_wide_scale(p.output.scale))),
        magic(_mm512_set1_pd(kWideMagic)),
        zero_point(_mm512_set1_epi32(p.output.zero_point)) {}

  Lanes lanes(int64_t channel) const { return {multiplier + channel, below + channel}; }

  __m512d rounded(__m512d value, __m512d scale) const {
    return _mm512_sub_pd(_mm512_fmadd_round_pd(value, scale, magic, kNearest), magic);
  }

  __m256i half(__m256i sum, const Lanes& k, int64_t at, __m256i e) const {
    const __m512d zero = _mm512_setzero_pd();
    const __m512d p = _mm512_mul_pd(_mm512_cvtepi32_pd(sum), _mm512_load_pd(k.multiplier + at));
    const __m512d above = rounded(rounded(_mm512_max_pd(p, zero), unit), positive_scale);
    const __m512d negative = rounded(_mm512_min_pd(p, zero), negative_first_scale);
    __m512d v = _mm512_add_pd(above, rounded(negative, _mm512_load_pd(k.below + at)));
    if constexpr (kResidual) {
      const __m512d wide = _mm512_add_pd(_mm512_cvtepi32_pd(e), residual_offset);
      v = _mm512_add_pd(v, rounded(wide, residual_scale));
    }
    return _mm512_cvtpd_epi32(rounded(_mm512_max_pd(v, low_after), out_scale));
  }

  __m512i apply(__m512i sum, const Lanes& k, const int8_t* residual) const {
    __m512i e = _mm512_setzero_si512();
    if constexpr (kResidual)
      e = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(residual)));
    const __m256i low = half(_mm512_castsi512_si256(sum), k, 0, _mm512_castsi512_si256(e));
    const __m256i high =
        half(_mm512_extracti64x4_epi64(sum, 1), k, 8, _mm512_extracti64x4_epi64(e, 1));
    const __m512i y = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    return _mm512_add_epi32(y, zero_point);
  }

  RK_INLINE __m512i bytes(const Ending& k, __m512i y0, __m512i y1, __m512i y2, __m512i y3) const {
    return to_bytes(k, y0, y1, y2, y3);
  }
};

// Finishes four sums: pixels i..i + 3 of vector v or, with kPairs, pixels i, i + 1 of vector v and then of v + 1. Only
// `count` pixels of the band exist, the place of the last stands for others.
template <bool kSums, bool kPairs, typename Route>
RK_INLINE void finish_four(const Ending& k, const Route& route, __m512i sum0, __m512i sum1,
                           __m512i sum2, __m512i sum3, int64_t i, int v, int64_t count) {
  const auto pixel_of = [&](int q) RK_UNROLLED { return i + (kPairs ? q % 2 : q); };
  const auto vector_of = [&](int q) RK_UNROLLED { return v + (kPairs ? q / 2 : 0); };
  const auto place_of = [&](int q) RK_UNROLLED {
    return int64_t{k.places[pixel_of(q) < count ? pixel_of(q) : count - 1]};
  };
  const auto stage = [&](int q, __m512i sum) RK_UNROLLED {
    const int64_t channel = k.channel + vector_of(q) * kVector;
    if constexpr (kSums) {
      sum = _mm512_dpwssd_epi32(sum, _mm512_load_si512(k.offset_pair + channel),
                                _mm512_set1_epi32(k.totals[pixel_of(q)]));
    }
    const int8_t* const residual =
        Route::kResidual ? k.residual + place_of(q) * k.residual_pixel + vector_of(q) * k.plane
                         : nullptr;
    return route.apply(sum, route.lanes(channel), residual);
  };
  const __m512i bytes =
      route.bytes(k, stage(0, sum0), stage(1, sum1), stage(2, sum2), stage(3, sum3));
  int8_t* const output = k.output + v * k.plane;
  constexpr int kNeighbors = kPairs ? 1 : 3;
  if (k.pixel == kHostBlock && i + kNeighbors < count &&
      k.places[i + kNeighbors] - k.places[i] == kNeighbors) {
    int8_t* const to = output + int64_t{k.places[i]} * kHostBlock;
    if constexpr (kPairs) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(bytes));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k.plane),
                          _mm512_extracti64x4_epi64(bytes, 1));
    } else {
      _mm512_storeu_si512(to, bytes);
    }
    return;
  }
  const auto store = [&](int q, __m128i piece) RK_UNROLLED {
    if (pixel_of(q) >= count) return;
    int8_t* const to = output + (kPairs ? q / 2 : 0) * k.plane + place_of(q) * k.pixel;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), piece);
  };
  store(0, _mm512_castsi512_si128(bytes));
  store(1, _mm512_extracti32x4_epi32(bytes, 1));
  store(2, _mm512_extracti32x4_epi32(bytes, 2));
  store(3, _mm512_extracti32x4_epi32(bytes, 3));
}

// A whole tile from pixel i on.
template <int kPixels, int kVectors, bool kSums, typename Route>
RK_INLINE void finish_tile(const Ending& k, const Route& route,
                           const __m512i (&sum)[kPixels][kVectors], int64_t i) {
  static_assert(kPixels % 4 == 0 || (kPixels % 4 == 2 && kVectors % 2 == 0));
  unroll<kVectors>([&](auto v) RK_UNROLLED {
    unroll<kPixels / 4>([&](auto group) RK_UNROLLED {
      constexpr int p = group * 4;
      finish_four<kSums, false>(k, route, sum[p][v], sum[p + 1][v], sum[p + 2][v], sum[p + 3][v],
                                i + p, v, i + kPixels);
    });
  });
  if constexpr (kPixels % 4 == 2) {
    constexpr int p = kPixels - 2;
    unroll<kVectors / 2>([&](auto pair) RK_UNROLLED {
      constexpr int v = pair * 2;
      finish_four<kSums, true>(k, route, sum[p][v], sum[p + 1][v], sum[p][v + 1], sum[p + 1][v + 1],
                               i + p, v, i + kPixels);
    });
  }
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END
