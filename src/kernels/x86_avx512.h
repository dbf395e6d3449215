// SPDX-License-Identifier: Apache-2.0
// Frame of a file with AVX-512 kernels. Include every other header first: only what stands between RK_AVX512_BEGIN and
// RK_AVX512_END is compiled for the newer CPU, so that no inline function of a header is, and leaks into the rest.
#pragma once

#if defined(__x86_64__)

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#define RK_AVX512_FEATURES "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,fma,f16c"
#define RK_PRAGMA(text) _Pragma(#text)
#define RK_AVX512_PRAGMA(text) RK_PRAGMA(text)
#if defined(__clang__)
#define RK_AVX512_BEGIN \
  RK_AVX512_PRAGMA(     \
      clang attribute push(__attribute__((target(RK_AVX512_FEATURES))), apply_to = function))
#define RK_AVX512_END RK_PRAGMA(clang attribute pop)
#else
#define RK_AVX512_BEGIN RK_PRAGMA(GCC push_options) RK_AVX512_PRAGMA(GCC target(RK_AVX512_FEATURES))
#define RK_AVX512_END RK_PRAGMA(GCC pop_options)
#endif

#endif  // x86-64
