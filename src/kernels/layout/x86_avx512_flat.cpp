// SPDX-License-Identifier: Apache-2.0
// Conversions of flat arrays between float32 and what activations are stored in, with AVX-512. Bit for bit the generic
// ones: quantizing divides, as rk::quantize_f32 does.
#if defined(__x86_64__)

#include "kernels/layout/quantize.h"
#include "kernels/layout/quantize_lane.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels {

decltype(f16_to_f32) f16_to_f32__avx512;
decltype(f32_to_f16) f32_to_f16__avx512;
decltype(i8_to_f32) i8_to_f32__avx512;
decltype(f32_to_i8) f32_to_i8__avx512;

}  // namespace rk::kernels

RK_AVX512_BEGIN

namespace rk::kernels {
namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr int64_t kLanes = 16;

// Calls work(at, mask) for 16 elements at a time, the last perhaps fewer.
template <typename Work>
void for_each_vector(IndexRange elements, const Work& work) {
  int64_t at = elements.begin;
  for (; at + kLanes <= elements.end; at += kLanes) work(at, static_cast<__mmask16>(0xffff));
  if (at < elements.end) work(at, static_cast<__mmask16>((1 << (elements.end - at)) - 1));
}

}  // namespace

void f16_to_f32__avx512(const uint16_t* input, float* output, IndexRange elements) {
  for_each_vector(elements, [=](int64_t at, __mmask16 mask) {
    _mm512_mask_storeu_ps(output + at, mask,
                          _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, input + at)));
  });
}

void f32_to_f16__avx512(const float* input, uint16_t* output, IndexRange elements) {
  for_each_vector(elements, [=](int64_t at, __mmask16 mask) {
    const __m512 x = _mm512_maskz_loadu_ps(mask, input + at);
    _mm256_mask_storeu_epi16(output + at, mask, _mm512_cvtps_ph(x, kNearest));
  });
}

void i8_to_f32__avx512(const int8_t* input, float* output, QuantScale by, IndexRange elements) {
  const __m512 zero_point = _mm512_set1_ps(static_cast<float>(by.zero_point));
  const __m512 scale = _mm512_set1_ps(by.scale);
  for_each_vector(elements, [=](int64_t at, __mmask16 mask) {
    const __m512i x = _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, input + at));
    const __m512 y = _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(x), zero_point), scale);
    _mm512_mask_storeu_ps(output + at, mask, y);
  });
}

void f32_to_i8__avx512(const float* input, int8_t* output, QuantScale by, IndexRange elements) {
  const __m512i zero_point = _mm512_set1_epi32(clamp_zero_point(by.zero_point));
  const __m512 scale = _mm512_set1_ps(by.scale);
  const __m512 high = _mm512_set1_ps(1024.0f), low = _mm512_set1_ps(-1024.0f);
  for_each_vector(elements, [=](int64_t at, __mmask16 mask) {
    const __m512 q = _mm512_div_ps(_mm512_maskz_loadu_ps(mask, input + at), scale);
    const __mmask16 number = _mm512_cmp_ps_mask(q, q, _CMP_ORD_Q);
    const __m512 near = _mm512_min_ps(_mm512_max_ps(q, low), high);
    const __m512i y =
        _mm512_add_epi32(_mm512_maskz_cvt_roundps_epi32(number, near, kNearest), zero_point);
    _mm512_mask_cvtsepi32_storeu_epi8(output + at, mask, y);
  });
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
