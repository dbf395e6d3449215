// SPDX-License-Identifier: Apache-2.0
// Float32 vectors of AVX-512 for the templates that several instruction sets share, as x86_avx2.h has them for AVX2.
// A file includes one of the two.
#pragma once

#if defined(__x86_64__)

#include <cstdint>

#include "kernels/x86_avx512.h"

#define RK_ISA_BEGIN RK_AVX512_BEGIN
#define RK_ISA_END RK_AVX512_END
#define RK_VARIANT(entry) entry##__avx512

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct Avx512F32 {
  using Vector = __m512;
  static constexpr int kLanes = 16;
  static __mmask16 first(int64_t count) {
    return static_cast<__mmask16>(count >= 16 ? 0xffff : (1 << count) - 1);
  }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector v) { _mm512_storeu_ps(to, v); }
  static Vector load_part(const float* from, int64_t count, float fill) {
    return _mm512_mask_loadu_ps(_mm512_set1_ps(fill), first(count), from);
  }
  static void store_part(float* to, Vector v, int64_t count) {
    _mm512_mask_storeu_ps(to, first(count), v);
  }
  static Vector all(float value) { return _mm512_set1_ps(value); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector sub(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector div(Vector a, Vector b) { return _mm512_div_ps(a, b); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  // The second operand where they are unordered.
  static Vector max(Vector a, Vector b) { return _mm512_max_ps(a, b); }
  // v < bound ? bound : v, and the reverse: NaN stays.
  static Vector at_least(Vector v, float bound) { return _mm512_max_ps(_mm512_set1_ps(bound), v); }
  static Vector at_most(Vector v, float bound) { return _mm512_min_ps(_mm512_set1_ps(bound), v); }
  static Vector zero_nan(Vector v) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
  }
  static Vector from(const int8_t* numbers) {
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(numbers))));
  }
  static Vector from_part(const int8_t* numbers, int64_t count) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(first(count), numbers)));
  }
  // The bits of 16 floats, less `base`, as saturated bytes.
  static void store_bits(const Vector (&v)[1], int32_t base, int8_t* to) {
    const __m512i less = _mm512_set1_epi32(base);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm512_cvtsepi32_epi8(_mm512_sub_epi32(_mm512_castps_si512(v[0]), less)));
  }
  // v, but 0 where x < bound.
  static Vector zero_below(Vector v, Vector x, float bound) {
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(x, _mm512_set1_ps(bound), _CMP_LT_OQ),
                              _mm512_setzero_ps());
  }
  // v * 2^n, where n are the low bits of `biased` and neither v nor the result is subnormal.
  static Vector add_exponent(Vector v, Vector biased) {
    const __m512i n = _mm512_slli_epi32(_mm512_castps_si512(biased), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(v), n));
  }
  static float total(Vector v) { return _mm512_reduce_add_ps(v); }
  static float largest(Vector v) { return _mm512_reduce_max_ps(v); }
};

// 16 lanes of fp16 to float32 and back, rounded to nearest even.
struct Avx512Half {
  static void widen(const uint16_t* from, float* to) {
    _mm512_storeu_ps(to,
                     _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  }
  static void widen_part(const uint16_t* from, int64_t count, float* to) {
    const __mmask16 there = Avx512F32::first(count);
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there, from)));
  }
  static void narrow(const float* from, uint16_t* to) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), kNearest));
  }
};

// What the templates of several instruction sets call them.
using IsaF32 = Avx512F32;
using IsaHalf = Avx512Half;

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
