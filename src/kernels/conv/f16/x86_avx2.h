// SPDX-License-Identifier: Apache-2.0
// What the parts of conv_f16__avx2 share: where an output goes and how a sum becomes one. Private to kernels/conv.
#pragma once

#if defined(__x86_64__)

#include <cstdint>

#include "kernels/conv/f16/half_weights.h"
#include "kernels/thread_scratch.h"
#include "kernels/x86_avx2.h"

namespace rk::kernels::avx2_f16 {

// Units of a 3x3 depthwise filter of stride 1 or 2; false, and nothing is done, of others.
bool depthwise(const ConvF16Args& args, IndexRange units);
// Units of a filter with groups of several channels; false, and nothing is done, where it does not suit.
bool grouped(const ConvF16Args& args, IndexRange units);

// Units of a 3x3 filter in Winograd's form; false, and nothing is done, where direct sums take less time.
bool winograd(const ConvF16Args& args, IndexRange units);

}  // namespace rk::kernels::avx2_f16

RK_ISA_BEGIN

namespace rk::kernels::avx2_f16 {
namespace {

constexpr int32_t kLanes = kHostBlock;

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

inline __m256 widen8(const uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// Activation, residual, activation, one rounding. Without a residual both activations are one.
struct Stages {
  __m256 low, high, low_after;

  explicit Stages(const ConvF16Params& p) {
    const float none = __builtin_inff(), after = p.relu_after_add ? 0.0f : -none;
    const float first = p.activation != Activation::kNone ? 0.0f : -none;
    const float limit = p.activation == Activation::kClip ? p.clip : none;
    const bool fold = !p.has_residual;
    low = _mm256_set1_ps(fold && after > first ? after : first);
    high = _mm256_set1_ps(fold && after > limit ? after : limit);
    low_after = _mm256_set1_ps(after);
  }

  // Eight channels of a pixel. The second operand of a comparison is the result where one is NaN.
  template <bool kResidual>
  void finish(__m256 sum, const uint16_t* residual, uint16_t* output) const {
    __m256 v = _mm256_min_ps(high, _mm256_max_ps(low, sum));
    if constexpr (kResidual) v = _mm256_max_ps(low_after, _mm256_add_ps(v, widen8(residual)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(output),
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

}  // namespace
}  // namespace rk::kernels::avx2_f16

RK_ISA_END

#endif  // x86-64
