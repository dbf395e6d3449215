// SPDX-License-Identifier: Apache-2.0
// Matrix products and float32 convolutions with AVX2: rows_f32.h, and the turning of a transposed matrix.
#if defined(__x86_64__)
#include "kernels/x86_avx2.h"

#include "kernels/conv/conv_f32.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/rows_f32.h"

RK_ISA_BEGIN

namespace rk::kernels {

decltype(gemm_f32) gemm_f32__avx2;
decltype(conv_f32) conv_f32__avx2;

namespace {

// Eight lines of eight: pairs of lines, then fours, then halves change places.
inline void turn_eight(const float* b, int64_t b_step, float (*panel)[kTileCols]) {
  __m256 v[8], t[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) v[i] = _mm256_loadu_ps(b + i * b_step);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    v[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    v[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    v[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    v[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(panel[i], _mm256_permute2f128_ps(v[i], v[i + 4], 0x20));
    _mm256_storeu_ps(panel[i + 4], _mm256_permute2f128_ps(v[i], v[i + 4], 0x31));
  }
}

void turn_square(const float* b, int64_t b_step, float (*panel)[kTileCols]) {
  for (int64_t k = 0; k < kTurnedSquare; k += 8) {
    for (int64_t c = 0; c < kTurnedSquare; c += 8)
      turn_eight(b + c * b_step + k, b_step, reinterpret_cast<float(*)[kTileCols]>(panel[k] + c));
  }
}

}  // namespace

void gemm_f32__avx2(const GemmF32Args& args, IndexRange units) {
  gemm_f32_by(multiply_tile_f32<IsaF32>, args, units, turn_square);
}

void conv_f32__avx2(const ConvF32Args& args, IndexRange units) {
  conv_f32_by(multiply_tile_f32<IsaF32>, args, units);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
