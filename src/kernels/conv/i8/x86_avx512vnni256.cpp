// SPDX-License-Identifier: Apache-2.0
// conv_i8 with AVX512-VNNI on 256 bits: vnni256.inc in the EVEX encoding, for CPUs without permutations of bytes and for
// filters that the 512-bit kernel refuses.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/x86_avx512.h"

// The compiler's own loops too: 512 bits would slow the clock of some CPUs.
#undef RK_ISA_BEGIN
#if defined(__clang__)
#define RK_ISA_BEGIN RK_AVX512VNNI_BEGIN
#else
#define RK_ISA_BEGIN                                                                \
  RK_TARGET_BEGIN(                                                                  \
      "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c,prefer-vector-width=" \
      "256")
#endif
#define RK_DOT(sum, x, w) _mm256_dpbusd_epi32(sum, x, w)
#include "kernels/conv/i8/vnni256.inc"

namespace rk::kernels {

extern const ConvI8Kernel conv_i8__avx512vnni256_6x16;
const ConvI8Kernel conv_i8__avx512vnni256_6x16 = dot_kernel("conv_i8__avx512vnni256_6x16");

}  // namespace rk::kernels

#endif  // x86-64
