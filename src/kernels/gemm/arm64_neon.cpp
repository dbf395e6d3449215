// SPDX-License-Identifier: Apache-2.0
// Matrix products and float32 convolutions on every 64-bit ARM, in tiles of 6x16 through rows_f32.h.
#if defined(__aarch64__)
#include "kernels/arm64_neon.h"

#include "kernels/conv/conv_f32.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/rows_f32.h"

namespace rk::kernels {

decltype(gemm_f32) gemm_f32__neon;
decltype(conv_f32) conv_f32__neon;

void gemm_f32__neon(const GemmF32Args& args, IndexRange units) {
  gemm_f32_by(multiply_tile_f32<IsaF32>, args, units);
}

void conv_f32__neon(const ConvF32Args& args, IndexRange units) {
  conv_f32_by(multiply_tile_f32<IsaF32>, args, units);
}

}  // namespace rk::kernels
#endif  // 64-bit ARM
