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
  static Vector from(const int32_t* numbers) {
    return _mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers)));
  }
  static Vector from(const int8_t* numbers) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(numbers))));
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

// 16 lanes of fp16 to float32 and back, rounded to nearest even.
struct Avx2Half {
  static void widen(const uint16_t* from, float* to) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm256_castsi256_si128(half)));
    _mm256_storeu_ps(to + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1)));
  }
  static void narrow(const float* from, uint16_t* to) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_set_m128i(_mm256_cvtps_ph(_mm256_loadu_ps(from + 8), kNearest),
                                         _mm256_cvtps_ph(_mm256_loadu_ps(from), kNearest)));
  }
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
