// SPDX-License-Identifier: Apache-2.0
// Frame of a file with AVX-512 kernels (see target_frame.h).
#pragma once

#if defined(__x86_64__)

#include "kernels/target_frame.h"

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

// Every AVX-512 CPU worth the name (Skylake-X): needs::kAvx512.
#define RK_AVX512_BEGIN RK_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")
#define RK_AVX512_END RK_TARGET_END
// With dot products of bytes (Cascade Lake): needs::kAvx512Vnni.
#define RK_AVX512VNNI_BEGIN \
  RK_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")
#define RK_AVX512VNNI_END RK_TARGET_END
// With permutations of bytes too (Ice Lake, Zen 4): needs::kAvx512Vbmi.
#define RK_AVX512VBMI_BEGIN \
  RK_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,fma,f16c")
#define RK_AVX512VBMI_END RK_TARGET_END

#endif  // x86-64
