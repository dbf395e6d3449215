// SPDX-License-Identifier: Apache-2.0
// conv_i8 with AVX-VNNI: vnni256.inc in the VEX encoding.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#undef RK_ISA_BEGIN
#define RK_ISA_BEGIN RK_TARGET_BEGIN("avx2,fma,f16c,avxvnni")
#define RK_DOT(sum, x, w) _mm256_dpbusd_avx_epi32(sum, x, w)
#include "kernels/conv/i8/vnni256.inc"

namespace rk::kernels {

extern const ConvI8Kernel conv_i8__avxvnni_6x16;
const ConvI8Kernel conv_i8__avxvnni_6x16 = dot_kernel("conv_i8__avxvnni_6x16");

}  // namespace rk::kernels

#endif  // x86-64
