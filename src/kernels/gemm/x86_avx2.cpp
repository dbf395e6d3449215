// SPDX-License-Identifier: Apache-2.0
// gemm_f32 and conv_f32 with AVX2 and FMA: see rows_f32.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/rows_f32.h"

namespace rk::kernels {

decltype(gemm_f32) gemm_f32__avx2_6x16;
decltype(conv_f32) conv_f32__avx2_6x16;

void gemm_f32__avx2_6x16(const GemmF32Args& args, IndexRange units) {
  gemm_f32_by(multiply_tile_f32<Avx2F32>, args, units);
}

void conv_f32__avx2_6x16(const ConvF32Args& args, IndexRange units) {
  conv_f32_by(multiply_tile_f32<Avx2F32>, args, units);
}

}  // namespace rk::kernels

#endif  // x86-64
