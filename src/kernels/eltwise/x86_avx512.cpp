// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels with AVX-512. sum_i8 rounds to nearest even by a fused multiply-add onto 1.5 * 2^23, as conv_i8
// does: exact while every value stays below 2^22, which is checked from the constants on each call; else the generic
// kernel runs. table_i8 looks up 64 bytes with two permutations of 128 entries each.
#if defined(__x86_64__)

#include <cstdint>
#include <cstring>

#include "kernels/eltwise/eltwise.h"

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace rk::kernels {

decltype(sum_i8) sum_i8__generic;

namespace {

// Baseline code: base/fixed_point.h's bounds decide which way to go.
bool stages_fit_float(const SumI8Args& args) {
  constexpr int64_t kLimit = 1 << 22;
  auto exact = [](ScaleShift s) { return s.scale > -(1 << 24) && s.scale < (1 << 24); };
  int64_t bound = 0;
  for (int32_t i = 0; i < args.input_count; ++i) {
    const InputStage& stage = args.inputs[i].stage;
    const int64_t term = scaled_bound(input_bound(stage.zero_point), stage.scale);
    if (term < 0 || input_bound(stage.zero_point) >= kLimit || !exact(stage.scale)) return false;
    bound += term;
    if (bound >= kLimit) return false;
  }
  const int64_t last = scaled_bound(bound, args.output_stage.scale);
  const int32_t zero_point = args.output_stage.zero_point;
  return last >= 0 && last < kLimit && exact(args.output_stage.scale) && zero_point > -kLimit &&
         zero_point < kLimit;
}

float exact_scale(ScaleShift s) {
  return static_cast<float>(s.scale) / static_cast<float>(uint64_t{1} << s.shift);
}

}  // namespace
}  // namespace rk::kernels

// Everything above is compiled for the baseline; only what follows uses the newer instructions.
#if defined(__clang__)
#pragma clang attribute push(                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,fma"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,fma")
#endif

namespace rk::kernels {
namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr float kMagic = 12582912.0f;
constexpr int32_t kMaxInputs = 16;  // more are summed by the generic kernel

struct Input {
  const int8_t* data;
  __m512 zero_point;
  __m512 scale;
};

// The elements under `mask`, from `at` on.
__m128i sum_lanes(const Input* inputs, int32_t count, int64_t at, __mmask16 mask, bool relu,
                  __m512 out_scale, __m512i unmagic) {
  const __m512 magic = _mm512_set1_ps(kMagic);
  __m512 v = _mm512_setzero_ps();
  for (int32_t i = 0; i < count; ++i) {
    const __m128i bytes = _mm_maskz_loadu_epi8(mask, inputs[i].data + at);
    const __m512 x =
        _mm512_sub_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)), inputs[i].zero_point);
    v = _mm512_add_ps(
        v, _mm512_sub_ps(_mm512_fmadd_round_ps(x, inputs[i].scale, magic, kNearest), magic));
  }
  if (relu) v = _mm512_max_ps(v, _mm512_setzero_ps());
  const __m512 y = _mm512_fmadd_round_ps(v, out_scale, magic, kNearest);
  return _mm512_cvtsepi32_epi8(_mm512_sub_epi32(_mm512_castps_si512(y), unmagic));
}

}  // namespace

void sum_i8__avx512(const SumI8Args& args, IndexRange units) {
  if (args.input_count > kMaxInputs || !stages_fit_float(args)) {
    sum_i8__generic(args, units);
    return;
  }
  Input inputs[kMaxInputs];
  for (int32_t i = 0; i < args.input_count; ++i) {
    const InputStage& stage = args.inputs[i].stage;
    inputs[i] = {args.inputs[i].data, _mm512_set1_ps(static_cast<float>(stage.zero_point)),
                 _mm512_set1_ps(exact_scale(stage.scale))};
  }
  const __m512 out_scale = _mm512_set1_ps(exact_scale(args.output_stage.scale));
  const __m512i unmagic = _mm512_sub_epi32(_mm512_castps_si512(_mm512_set1_ps(kMagic)),
                                           _mm512_set1_epi32(args.output_stage.zero_point));
  const int64_t limit = units.end * kEltwiseRun;
  const int64_t end = limit < args.elements ? limit : args.elements;
  for (int64_t at = units.begin * kEltwiseRun; at < end; at += 16) {
    const __mmask16 mask = end - at >= 16 ? static_cast<__mmask16>(0xffff)
                                          : static_cast<__mmask16>((1u << (end - at)) - 1);
    const __m128i y = sum_lanes(inputs, args.input_count, at, mask, args.relu, out_scale, unmagic);
    _mm_mask_storeu_epi8(args.output + at, mask, y);
  }
}

void table_i8__avx512(const TableI8Args& args, IndexRange units) {
  // Entry i belongs to x = i - 128, so x's own bits select from the halves in the other order.
  const __m512i positive0 = _mm512_loadu_si512(args.table + 128);
  const __m512i positive1 = _mm512_loadu_si512(args.table + 192);
  const __m512i negative0 = _mm512_loadu_si512(args.table);
  const __m512i negative1 = _mm512_loadu_si512(args.table + 64);
  const int64_t limit = units.end * kEltwiseRun;
  const int64_t end = limit < args.elements ? limit : args.elements;
  for (int64_t at = units.begin * kEltwiseRun; at < end; at += 64) {
    const __mmask64 mask = end - at >= 64 ? ~__mmask64{0} : (__mmask64{1} << (end - at)) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(mask, args.input + at);
    const __m512i positive = _mm512_permutex2var_epi8(positive0, x, positive1);
    const __m512i negative = _mm512_permutex2var_epi8(negative0, x, negative1);
    const __m512i y = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), positive, negative);
    _mm512_mask_storeu_epi8(args.output + at, mask, y);
  }
}

}  // namespace rk::kernels

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // x86-64
