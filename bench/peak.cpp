// SPDX-License-Identifier: Apache-2.0
// Sixteen independent chains hide every latency; nothing touches memory.
#include "bench/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "kernels/cpu_features.h"
#include "kernels/x86_avx512.h"

#if defined(__x86_64__)
RK_TARGET_BEGIN("avx2,fma,f16c")
namespace rk::bench {
namespace {

// What exact products of bytes take with AVX2 where packing has proved that nothing saturates (conv/i8/quads.h): two
// products of 32 bytes, one addition of 16 bits, one widening, one addition. Eight chains and their temporaries.
void avx2_int8_rounds(int64_t rounds, int32_t* keep) {
  constexpr int kSums = 8;
  __m256i sum[kSums];
#pragma GCC unroll 8
  for (int i = 0; i < kSums; ++i) sum[i] = _mm256_set1_epi32(i);
  const __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(-2), ones = _mm256_set1_epi16(1);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < kSums; ++i) {
      __m256i first, second;
      asm("vpmaddubsw %[b], %[a], %[first]\n\tvpmaddubsw %[b], %[a], %[second]\n\t"
          "vpaddw %[second], %[first], %[first]\n\tvpmaddwd %[ones], %[first], %[first]\n\t"
          "vpaddd %[first], %[sum], %[sum]"
          : [sum] "+x"(sum[i]), [first] "=&x"(first), [second] "=&x"(second)
          : [a] "x"(a), [b] "x"(b), [ones] "x"(ones));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kSums; ++i) *keep += _mm256_extract_epi32(sum[i], 0);
}

void avx2_int16_rounds(int64_t rounds, int32_t* keep) {
  constexpr int kSums = 12;
  __m256i sum[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sum[i] = _mm256_set1_epi32(i);
  const __m256i a = _mm256_set1_epi16(3), b = _mm256_set1_epi16(-2);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) {
      __m256i products;
      asm("vpmaddwd %[b], %[a], %[products]\n\tvpaddd %[products], %[sum], %[sum]"
          : [sum] "+x"(sum[i]), [products] "=&x"(products)
          : [a] "x"(a), [b] "x"(b));
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) *keep += _mm256_extract_epi32(sum[i], 0);
}

void avx2_float_rounds(int64_t rounds, int32_t* keep) {
  constexpr int kSums = 12;
  __m256 sum[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) asm("vfmadd231ps %2, %1, %0" : "+x"(sum[i]) : "x"(a), "x"(b));
  }
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) *keep += _mm256_cvtss_f32(sum[i]) > 0;
}

}  // namespace
}  // namespace rk::bench
RK_TARGET_END

RK_AVX512VBMI_BEGIN
namespace rk::bench {
namespace {

constexpr int kChains = 16;

void int8_rounds(int64_t rounds, int32_t* keep) {
  __m512i sum[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) sum[i] = _mm512_set1_epi32(i);
  const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-2);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) asm("vpdpbusd %2, %1, %0" : "+v"(sum[i]) : "v"(a), "v"(b));
  }
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) *keep += _mm512_reduce_add_epi32(sum[i]);
}

void float_rounds(int64_t rounds, int32_t* keep) {
  __m512 sum[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) asm("vfmadd231ps %2, %1, %0" : "+v"(sum[i]) : "v"(a), "v"(b));
  }
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) *keep += _mm512_reduce_add_ps(sum[i]) > 0;
}

}  // namespace
}  // namespace rk::bench
RK_AVX512VBMI_END
#endif

namespace rk::bench {
namespace {

// Best of ten short runs: the machine's, not its neighbors'.
template <typename Rounds>
[[maybe_unused]] double measure(Rounds rounds, double macs_per_round) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kRounds = 200000;
  int32_t keep = 0;
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    rounds(kRounds, &keep);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, macs_per_round * kRounds / seconds * 1e-9);
  }
  return keep == 42 ? best * 0.999999 : best;  // keeps the sums alive
}

bool has(kernels::CpuFeatures needed) { return (needed & ~kernels::allowed_features()) == 0; }

}  // namespace

double int8_peak_gmacs() {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx512Vbmi)) return measure(int8_rounds, 16.0 * 64);
  if (has(kernels::needs::kAvx2)) return measure(avx2_int8_rounds, 8.0 * 64);
#endif
  return 0;
}

double any_int8_peak_gmacs() {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx2) && !has(kernels::needs::kAvx512Vbmi))
    return measure(avx2_int16_rounds, 12.0 * 16);
#endif
  return int8_peak_gmacs();
}

double float_peak_gmacs() {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx512Vbmi))
    return measure(float_rounds, 16.0 * 16);
  if (has(kernels::needs::kAvx2)) return measure(avx2_float_rounds, 12.0 * 8);
#endif
  return 0;
}

}  // namespace rk::bench
