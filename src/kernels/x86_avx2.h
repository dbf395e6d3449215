// SPDX-License-Identifier: Apache-2.0
// Frame of a file with AVX2 kernels (see target_frame.h), and float32 vectors for the templates that several
// instruction sets share.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "kernels/target_frame.h"

#define RK_ISA_BEGIN RK_TARGET_BEGIN("avx2,fma,f16c")
#define RK_ISA_END RK_TARGET_END
#define RK_VARIANT(entry) entry##__avx2

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct Avx2F32 {
  using Vector = __m256;
  static constexpr int kLanes = 8;
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vector v) { _mm256_storeu_ps(to, v); }
  static Vector spread(const float* from) { return _mm256_broadcast_ss(from); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  // v < bound ? bound : v, and the reverse: NaN stays.
  static Vector at_least(Vector v, float bound) { return _mm256_max_ps(_mm256_set1_ps(bound), v); }
  static Vector at_most(Vector v, float bound) { return _mm256_min_ps(_mm256_set1_ps(bound), v); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static Vector sub(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  static Vector all(float value) { return _mm256_set1_ps(value); }
  static Vector mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector div(Vector a, Vector b) { return _mm256_div_ps(a, b); }
  // The second operand where they are unordered.
  static Vector max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
  static Vector load_part(const float* from, int64_t count, float fill) {
    float lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) lanes[i] = fill;
    for (int i = 0; i < kLanes && i < count; ++i) lanes[i] = from[i];
    return load(lanes);
  }
  static void store_part(float* to, Vector v, int64_t count) {
    float lanes[kLanes];
    store(lanes, v);
    for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
  }
  static Vector zero_nan(Vector v) { return _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q)); }
  // v, but 0 where x < bound.
  static Vector zero_below(Vector v, Vector x, float bound) {
    return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_set1_ps(bound), _CMP_LT_OQ), v);
  }
  // v * 2^n, where n are the low bits of `biased` and neither v nor the result is subnormal.
  static Vector add_exponent(Vector v, Vector biased) {
    const __m256i n = _mm256_slli_epi32(_mm256_castps_si256(biased), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v), n));
  }
  static float total(Vector v) {
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
  }
  static float largest(Vector v) {
    __m128 most = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    most = _mm_max_ps(most, _mm_movehl_ps(most, most));
    return _mm_cvtss_f32(_mm_max_ss(most, _mm_movehdup_ps(most)));
  }
  static Vector from(const int32_t* numbers) {
    return _mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers)));
  }
  static Vector from(__m256i numbers) { return _mm256_cvtepi32_ps(numbers); }
  static __m256i bits(Vector v) { return _mm256_castps_si256(v); }
  static Vector of_bits(__m256i v) { return _mm256_castsi256_ps(v); }
  // a + b * factor + addend modulo 2^32.
  static __m256i add_product(__m256i a, __m256i b, int32_t factor, int32_t addend) {
    const __m256i product = _mm256_mullo_epi32(b, _mm256_set1_epi32(factor));
    return _mm256_add_epi32(_mm256_add_epi32(a, product), _mm256_set1_epi32(addend));
  }
  static Vector from(const int8_t* numbers) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(numbers))));
  }
  // Straight lines between entries (conv/i8/lane_lookup.h).
  template <typename Table>
  static Vector interpolate(Vector t, const Table& table) {
    const __m256i distance =
        _mm256_sub_epi32(_mm256_cvtps_epi32(t), _mm256_set1_epi32(table.start));
    const __m256i entry = _mm256_srl_epi32(distance, _mm_cvtsi32_si128(table.shift));
    const __m256i pair = _mm256_i32gather_epi32(table.pairs, entry, 4);
    const __m256i rest = _mm256_and_si256(distance, _mm256_set1_epi32(table.rest));
    const __m256i part = _mm256_madd_epi16(pair, _mm256_slli_epi32(rest, 16));
    const Vector magic = _mm256_set1_ps(12582912.0f);  // 1.5 * 2^23
    const Vector added = _mm256_sub_ps(
        _mm256_fmadd_ps(_mm256_cvtepi32_ps(part), _mm256_set1_ps(table.unit), magic), magic);
    const __m256i first = _mm256_srai_epi32(_mm256_slli_epi32(pair, 16), 16);
    return _mm256_add_ps(_mm256_cvtepi32_ps(first), added);
  }
  // bytes[index] of 16 indices, which are the bits of floats, less `base`; three bytes further are read.
  static void store_bytes_at(const Vector (&t)[2], const int8_t* bytes, int32_t base, int8_t* to) {
    const __m256i less = _mm256_set1_epi32(base), one = _mm256_set1_epi32(0xff);
    const auto* const from = reinterpret_cast<const int*>(bytes);
    const __m256i a =
        _mm256_i32gather_epi32(from, _mm256_sub_epi32(_mm256_castps_si256(t[0]), less), 1);
    const __m256i b =
        _mm256_i32gather_epi32(from, _mm256_sub_epi32(_mm256_castps_si256(t[1]), less), 1);
    const __m256i words = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(_mm256_and_si256(a, one), _mm256_and_si256(b, one)), 0xd8);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
  // The same of eight, as numbers.
  static __m256i bytes_at(Vector t, const int8_t* bytes, int32_t base) {
    const __m256i index = _mm256_sub_epi32(bits(t), _mm256_set1_epi32(base));
    const __m256i found = _mm256_i32gather_epi32(reinterpret_cast<const int*>(bytes), index, 1);
    return _mm256_srai_epi32(_mm256_slli_epi32(found, 24), 24);
  }
  // The bits of 16 floats, less `base`, as saturated bytes.
  static void store_bits(const Vector (&v)[2], int32_t base, int8_t* to) {
    const __m256i less = _mm256_set1_epi32(base);
    const __m256i words = _mm256_packs_epi32(_mm256_sub_epi32(_mm256_castps_si256(v[0]), less),
                                             _mm256_sub_epi32(_mm256_castps_si256(v[1]), less));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
  }
};

// float64 vectors of half of eight int32.
struct Avx2F64 {
  using Vector = __m256d;
  static Vector all(double value) { return _mm256_set1_pd(value); }
  static Vector sub(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
  static Vector from_first(__m256i numbers) {
    return _mm256_cvtepi32_pd(_mm256_castsi256_si128(numbers));
  }
  static Vector from_last(__m256i numbers) {
    return _mm256_cvtepi32_pd(_mm256_extracti128_si256(numbers, 1));
  }
  static __m256i add_product(__m256i a, __m256i b, int32_t factor, int32_t addend) {
    return Avx2F32::add_product(a, b, factor, addend);
  }
  // The low 32 bits of each.
  static __m256i low_bits(Vector first, Vector last) {
    const __m256 words = _mm256_shuffle_ps(_mm256_castpd_ps(first), _mm256_castpd_ps(last), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(words), 0xd8);
  }
};

// 16 lanes of fp16 to float32 and back, rounded to nearest even.
struct Avx2Half {
  static void widen(const uint16_t* from, float* to) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm256_castsi256_si128(half)));
    _mm256_storeu_ps(to + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1)));
  }
  static void widen_part(const uint16_t* from, int64_t count, float* to) {
    uint16_t lanes[16] = {};
    for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
    widen(lanes, to);
  }
  static void narrow(const float* from, uint16_t* to) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_set_m128i(_mm256_cvtps_ph(_mm256_loadu_ps(from + 8), kNearest),
                                         _mm256_cvtps_ph(_mm256_loadu_ps(from), kNearest)));
  }
};

// The default modes for a while: the host program may have changed them.
struct MxcsrDefault {
  unsigned saved = _mm_getcsr();
  MxcsrDefault() { _mm_setcsr(0x1f80); }
  ~MxcsrDefault() { _mm_setcsr(saved); }
  MxcsrDefault(const MxcsrDefault&) = delete;
  MxcsrDefault& operator=(const MxcsrDefault&) = delete;
};

// What the templates of several instruction sets call them.
using IsaF32 = Avx2F32;
using IsaHalf = Avx2Half;
using IsaRounding = MxcsrDefault;

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
