// SPDX-License-Identifier: Apache-2.0
// Maximum of int8 and pooling of fp16 with AVX-512: the generic walk with a window's 16 lanes in one register.
#if defined(__x86_64__)

#include "kernels/x86_avx512.h"
#include "kernels/pool/pool.h"

RK_AVX512_BEGIN

#include "kernels/pool/walk.h"

namespace rk::kernels {

decltype(max_pool_i8) max_pool_i8__avx512;
decltype(max_pool_f16) max_pool_f16__avx512;
decltype(average_pool_f16) average_pool_f16__avx512;

namespace {

__m512 widen(const uint16_t* x) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}

void narrow(__m512 v, uint16_t* y) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y),
                      _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

struct MaxI8 {
  __m128i best;
  void start() { best = _mm_set1_epi8(-128); }
  void take(const int8_t* x) {
    best = _mm_max_epi8(best, _mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  }
  void finish(int64_t, int64_t, int8_t* y) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), best);
  }
};

struct MaxF16 {
  __m512 best;
  bool first;
  void start() { first = true; }
  void take(const uint16_t* x) {
    const __m512 v = widen(x);
    // A NaN is taken and stays.
    const __mmask16 taken = static_cast<__mmask16>(_mm512_cmp_ps_mask(v, best, _CMP_GT_OQ) |
                                                   _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q));
    best = first ? v : _mm512_mask_mov_ps(best, taken, v);
    first = false;
  }
  void finish(int64_t, int64_t, uint16_t* y) const { narrow(best, y); }
};

struct AverageF16 {
  __m512 sum;
  void start() { sum = _mm512_setzero_ps(); }
  void take(const uint16_t* x) { sum = _mm512_add_ps(sum, widen(x)); }
  void finish(int64_t, int64_t count, uint16_t* y) const {
    narrow(_mm512_div_ps(sum, _mm512_set1_ps(static_cast<float>(count))), y);
  }
};

}  // namespace

void max_pool_i8__avx512(const PoolArgs<int8_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, MaxI8{});
}

void max_pool_f16__avx512(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, MaxF16{});
}

void average_pool_f16__avx512(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, AverageF16{});
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
