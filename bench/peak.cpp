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

// What exact products of bytes take with AVX2 where packing has proved that nothing saturates (conv/i8/quads.h): three
// products of 32 bytes, two additions of 16 bits, one widening, one addition. Six chains and their temporaries.
void avx2_int8_rounds(int64_t rounds, int32_t* keep) {
  constexpr int kSums = 6;
  __m256i sum[kSums];
#pragma GCC unroll 6
  for (int i = 0; i < kSums; ++i) sum[i] = _mm256_set1_epi32(i);
  const __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(-2), ones = _mm256_set1_epi16(1);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 6
    for (int i = 0; i < kSums; ++i) {
      __m256i first, second;
      asm("vpmaddubsw %[b], %[a], %[first]\n\tvpmaddubsw %[b], %[a], %[second]\n\t"
          "vpaddw %[second], %[first], %[first]\n\tvpmaddubsw %[b], %[a], %[second]\n\t"
          "vpaddw %[second], %[first], %[first]\n\tvpmaddwd %[ones], %[first], %[first]\n\t"
          "vpaddd %[first], %[sum], %[sum]"
          : [sum] "+x"(sum[i]), [first] "=&x"(first), [second] "=&x"(second)
          : [a] "x"(a), [b] "x"(b), [ones] "x"(ones));
    }
  }
#pragma GCC unroll 6
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

// Four streams of whole cache lines, each asked for well before it is used: more requests in flight than one stream has.
uint64_t avx2_read(const uint8_t* from, size_t size_bytes) {
  constexpr int kStreams = 4;
  constexpr size_t kAhead = 512;
  const size_t part = size_bytes / kStreams;
  __m256i sum[kStreams] = {};
  for (size_t i = 0; i < part; i += 64) {
#pragma GCC unroll 4
    for (int s = 0; s < kStreams; ++s) {
      const uint8_t* const line = from + static_cast<size_t>(s) * part + i;
      __builtin_prefetch(line + kAhead);
      sum[s] = _mm256_xor_si256(sum[s], _mm256_load_si256(reinterpret_cast<const __m256i*>(line)));
      sum[s] =
          _mm256_xor_si256(sum[s], _mm256_load_si256(reinterpret_cast<const __m256i*>(line + 32)));
    }
  }
  const __m256i all =
      _mm256_xor_si256(_mm256_xor_si256(sum[0], sum[1]), _mm256_xor_si256(sum[2], sum[3]));
  return static_cast<uint64_t>(_mm256_extract_epi64(all, 0) ^ _mm256_extract_epi64(all, 1) ^
                               _mm256_extract_epi64(all, 2) ^ _mm256_extract_epi64(all, 3));
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
double measure(const Peak& peak) {
  if (peak.work == nullptr) return 0;
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kRounds = 200000;
  int32_t keep = 0;
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    peak.work(kRounds, &keep);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, peak.macs_per_round * kRounds / seconds * 1e-9);
  }
  return keep == 42 ? best * 0.999999 : best;  // keeps the sums alive
}

[[maybe_unused]] bool has(kernels::CpuFeatures needed) {
  return (needed & ~kernels::allowed_features()) == 0;
}

Peak int8_peak() {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx512Vbmi)) return {int8_rounds, 16.0 * 64};
  if (has(kernels::needs::kAvx2)) return {avx2_int8_rounds, 6.0 * 96};
#endif
  return {};
}

uint64_t plain_read(const uint8_t* from, size_t size_bytes) {
  const auto* const words = reinterpret_cast<const uint64_t*>(from);
  uint64_t sum[8] = {};
  for (size_t i = 0; i < size_bytes / 8; i += 8) {
    __builtin_prefetch(words + i + 256);
    for (size_t lane = 0; lane < 8; ++lane) sum[lane] ^= words[i + lane];
  }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

}  // namespace

Peak any_int8_peak() {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx2) && !has(kernels::needs::kAvx512Vbmi))
    return {avx2_int16_rounds, 12.0 * 16};
#endif
  return int8_peak();
}

Peak float_peak() {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx512Vbmi)) return {float_rounds, 16.0 * 16};
  if (has(kernels::needs::kAvx2)) return {avx2_float_rounds, 12.0 * 8};
#endif
  return {};
}

double int8_peak_gmacs() { return measure(int8_peak()); }
double float_peak_gmacs() { return measure(float_peak()); }

uint64_t read_memory(const uint8_t* from, size_t size_bytes) {
#if defined(__x86_64__)
  if (has(kernels::needs::kAvx2)) return avx2_read(from, size_bytes);
#endif
  return plain_read(from, size_bytes);
}

}  // namespace rk::bench
