// SPDX-License-Identifier: Apache-2.0
// The float32 tile product with AVX-512: 8 rows by 32 columns of sums in registers, fused multiply-adds over k upwards.
#if defined(__x86_64__)

#include "kernels/x86_avx512.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/tile_f32.h"

RK_AVX512_BEGIN

namespace rk::kernels {

decltype(gemm_f32) gemm_f32__avx512_8x32;
decltype(conv_f32) conv_f32__avx512_8x32;

namespace {

template <int kRows>
inline void multiply_rows(const float* a, int64_t a_row_stride, int64_t a_col_stride,
                          const float (*panel)[kTileCols], int64_t depth,
                          float (*sums)[kTileCols]) {
  static_assert(kTileCols == 32);
  __m512 low[kRows], high[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    low[r] = _mm512_load_ps(sums[r]);
    high[r] = _mm512_load_ps(sums[r] + 16);
  }
  for (int64_t k = 0; k < depth; ++k) {
    const __m512 b_low = _mm512_load_ps(panel[k]);
    const __m512 b_high = _mm512_load_ps(panel[k] + 16);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512 x = _mm512_set1_ps(a[r * a_row_stride + k * a_col_stride]);
      low[r] = _mm512_fmadd_ps(x, b_low, low[r]);
      high[r] = _mm512_fmadd_ps(x, b_high, high[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    _mm512_store_ps(sums[r], low[r]);
    _mm512_store_ps(sums[r] + 16, high[r]);
  }
}

void multiply_tile(TileF32& tile, const float* a, int64_t a_row_stride, int64_t a_col_stride,
                   int64_t rows, int64_t depth) {
  int64_t r = 0;
  const auto go = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows) {
      multiply_rows<kRows>(a + r * a_row_stride, a_row_stride, a_col_stride, tile.panel, depth,
                           tile.sums + r);
    }
  };
  go.template operator()<8>();
  go.template operator()<4>();
  go.template operator()<1>();
}

inline __m512 low_pairs(__m512 a, __m512 b) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}
inline __m512 high_pairs(__m512 a, __m512 b) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

void turn_square(const float* b, int64_t b_step, float (*panel)[kTileCols]) {
  __m512 v[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) v[i] = _mm512_loadu_ps(b + i * b_step);
    // Pairs of lines, then fours, then the quarters of each vector change places.
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    v[i] = low_pairs(t[i], t[i + 2]);
    v[i + 1] = high_pairs(t[i], t[i + 2]);
    v[i + 2] = low_pairs(t[i + 1], t[i + 3]);
    v[i + 3] = high_pairs(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm512_storeu_ps(panel[i], _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88));
    _mm512_storeu_ps(panel[i + 8], _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd));
    _mm512_storeu_ps(panel[i + 4], _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88));
    _mm512_storeu_ps(panel[i + 12], _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd));
  }
}

}  // namespace

void gemm_f32__avx512_8x32(const GemmF32Args& args, IndexRange units) {
  gemm_f32_by(multiply_tile, args, units, turn_square);
}

void conv_f32__avx512_8x32(const ConvF32Args& args, IndexRange units) {
  conv_f32_by(multiply_tile, args, units);
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
