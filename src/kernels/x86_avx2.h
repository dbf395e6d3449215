// SPDX-License-Identifier: Apache-2.0
// Frame of a file with AVX2 kernels (see target_frame.h), and float32 vectors for the templates that several
// instruction sets share.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernels/target_frame.h"

#define RK_ISA_BEGIN RK_TARGET_BEGIN("avx2,fma,f16c")
#define RK_ISA_END RK_TARGET_END

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct Avx2F32 {
  using Vector = __m256;
  static constexpr int kLanes = 8;
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vector v) { _mm256_storeu_ps(to, v); }
  static Vector spread(const float* from) { return _mm256_broadcast_ss(from); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  // v < bound ? bound : v, and the reverse: NaN stays.
  static Vector at_least(Vector v, float bound) { return _mm256_max_ps(_mm256_set1_ps(bound), v); }
  static Vector at_most(Vector v, float bound) { return _mm256_min_ps(_mm256_set1_ps(bound), v); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
