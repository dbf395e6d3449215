// SPDX-License-Identifier: Apache-2.0
// conv_sums.h with AVX-512 VNNI. Eight pixels share each load of weights; the weights are the unsigned operand, w + 128,
// so that inputs are multiplied as they lie in memory, and (o - 128) * sum x is added at the end.
#include "kernels/conv/conv_sums.h"
#include "kernels/x86_avx512.h"

#if defined(__x86_64__)

RK_AVX512VNNI_BEGIN

namespace rk::kernels {
namespace {

constexpr int kLanes = 16, kPixels = 8;
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

inline int32_t four_inputs(const int8_t* from) {
  int32_t value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

inline __m512d nearest(__m512d value) { return _mm512_roundscale_pd(value, kNearest); }

// rne(value / 2^shift) of int32 lanes.
inline __m512i shift_nearest(__m512i value, int shift) {
  if (shift == 0) return value;
  const __m128i count = _mm_cvtsi32_si128(shift);
  const __m512i floor = _mm512_sra_epi32(value, count);
  const __m512i rest = _mm512_sub_epi32(value, _mm512_sll_epi32(floor, count));
  const __m512i half = _mm512_set1_epi32(1 << (shift - 1)), one = _mm512_set1_epi32(1);
  const __mmask16 up = _mm512_cmpgt_epi32_mask(rest, half) |
                       (_mm512_cmpeq_epi32_mask(rest, half) & _mm512_test_epi32_mask(floor, one));
  return _mm512_mask_add_epi32(floor, up, floor, one);
}

struct Index {
  __m256i inside;   // clamped to the table
  __m512d outside;  // how far it lay beyond
};

inline Index index_of(const LookupFinish& f, __m256i sum, const double* bias,
                      const double* multiplier) {
  const __m512d product =
      _mm512_mul_pd(_mm512_add_pd(_mm512_cvtepi32_pd(sum), _mm512_loadu_pd(bias)),
                    _mm512_loadu_pd(multiplier));
  const __m512d v = nearest(_mm512_mul_pd(product, _mm512_set1_pd(f.first_scale)));
  const __m512d scaled = _mm512_fmadd_pd(v, _mm512_set1_pd(f.index_multiplier),
                                         _mm512_set1_pd(f.index_addend));
  const __m512d t = nearest(_mm512_mul_pd(scaled, _mm512_set1_pd(f.index_scale)));
  const __m512d inside =
      _mm512_min_pd(_mm512_max_pd(t, _mm512_set1_pd(f.start)), _mm512_set1_pd(f.end));
  return {_mm512_cvtpd_epi32(inside), _mm512_sub_pd(t, inside)};
}

inline __m256i finish_half(const LookupFinish& f, __m256i table, __m512d outside) {
  const __mmask8 below = _mm512_cmp_pd_mask(outside, _mm512_setzero_pd(), _CMP_LT_OQ);
  const __m512d slope =
      _mm512_mask_blend_pd(below, _mm512_set1_pd(f.above), _mm512_set1_pd(f.below));
  const __m512d value =
      _mm512_add_pd(_mm512_cvtepi32_pd(table), nearest(_mm512_mul_pd(outside, slope)));
  __m512d y = nearest(_mm512_mul_pd(value, _mm512_set1_pd(f.output_scale)));
  y = _mm512_add_pd(y, _mm512_set1_pd(f.zero_point));
  y = _mm512_min_pd(_mm512_max_pd(y, _mm512_set1_pd(-128)), _mm512_set1_pd(127));
  return _mm512_cvtpd_epi32(y);
}

}  // namespace

void byte_products__avx512vnni(const ByteProducts& args) {
  __m512i sum[kPixels];
  __m128i total[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    sum[p] = _mm512_setzero_si512();
    total[p] = _mm_setzero_si128();
  }
  const __m128i all = _mm_set1_epi8(1);
  const __m128i some = _mm_maskz_mov_epi8(
      static_cast<__mmask16>((1u << args.last_lanes) - 1), all);
  const int64_t full_steps = args.steps - args.taps;
  for (int64_t step = 0; step < args.steps; ++step) {
    const int8_t* const* const pixels = args.pixels + step * kPixels;
    const uint8_t* const weights = args.weights + step * kLanes * kLanes;
    const __m128i ones = step < full_steps ? all : some;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512i w = _mm512_loadu_si512(weights + i * 4 * kLanes);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p)
        sum[p] = _mm512_dpbusd_epi32(sum[p], w, _mm512_set1_epi32(four_inputs(pixels[p] + 4 * i)));
    }
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels[p]));
      total[p] = _mm_dpbusd_epi32(total[p], ones, x);
    }
  }
  const __m512i offset = _mm512_loadu_si512(args.offset);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    if (p >= args.count) break;
    const __m128i pair = _mm_add_epi32(total[p], _mm_srli_si128(total[p], 8));
    const int32_t inputs = _mm_cvtsi128_si32(_mm_add_epi32(pair, _mm_srli_si128(pair, 4)));
    const __m512i more = _mm512_mullo_epi32(offset, _mm512_set1_epi32(inputs));
    _mm512_storeu_si512(args.sums + p * kLanes, _mm512_add_epi32(sum[p], more));
  }
}

void lookup_finish__avx512vnni(const LookupFinish& f, const int32_t* sums, int64_t pixels,
                               int32_t tile, int8_t* output) {
  const double* const bias = f.bias + int64_t{tile} * kLanes;
  const double* const multiplier = f.multiplier + int64_t{tile} * kLanes;
  const __m128i entry_shift = _mm_cvtsi32_si128(f.entry_shift);
  const __m512i start = _mm512_set1_epi32(f.start);
  const __m512i rest_mask = _mm512_set1_epi32((1 << f.entry_shift) - 1);
  for (int64_t p = 0; p < pixels; ++p) {
    const __m512i sum = _mm512_loadu_si512(sums + p * kLanes);
    const Index low = index_of(f, _mm512_castsi512_si256(sum), bias, multiplier);
    const Index high = index_of(f, _mm512_extracti64x4_epi64(sum, 1), bias + 8, multiplier + 8);
    const __m512i index =
        _mm512_inserti64x4(_mm512_castsi256_si512(low.inside), high.inside, 1);
    const __m512i distance = _mm512_sub_epi32(index, start);
    const __m512i pair = _mm512_i32gather_epi32(_mm512_srl_epi32(distance, entry_shift),
                                                f.pairs, sizeof(uint32_t));
    const __m512i first = _mm512_srai_epi32(_mm512_slli_epi32(pair, 16), 16);
    const __m512i second = _mm512_srai_epi32(pair, 16);
    const __m512i part = _mm512_mullo_epi32(_mm512_sub_epi32(second, first),
                                            _mm512_and_si512(distance, rest_mask));
    const __m512i table = _mm512_add_epi32(first, shift_nearest(part, f.entry_shift));
    const __m256i y_low = finish_half(f, _mm512_castsi512_si256(table), low.outside);
    const __m256i y_high = finish_half(f, _mm512_extracti64x4_epi64(table, 1), high.outside);
    const __m512i y = _mm512_inserti64x4(_mm512_castsi256_si512(y_low), y_high, 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(output + p * kLanes), _mm512_cvtsepi32_epi8(y));
  }
}

}  // namespace rk::kernels

RK_AVX512VNNI_END

#endif  // x86-64
