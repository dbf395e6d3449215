// SPDX-License-Identifier: Apache-2.0
// matrix_f16 with AVX-512: see lane_matrix_f16.h. A panel is one vector wide.
#if defined(__x86_64__)

#include "kernels/x86_avx512.h"

#define RK_ISA_BEGIN RK_AVX512_BEGIN
#define RK_ISA_END RK_AVX512_END

#include "kernels/gemm/lane_matrix_f16.h"

namespace rk::kernels {

extern const MatrixF16Kernel matrix_f16__avx512_12x16;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct Lanes {
  using Vector = __m512;
  static constexpr int kLanes = 16;
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector v) { _mm512_storeu_ps(to, v); }
  static Vector spread(const float* from) { return _mm512_set1_ps(*from); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
};
struct LoadHalf {
  static __m512 load(const uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

void multiply(const MultiplyF16Args& args) { multiply_f16<Lanes, LoadHalf, 12>(args); }

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

const MatrixF16Kernel matrix_f16__avx512_12x16 = {"matrix_f16__avx512_12x16", multiply};

}  // namespace rk::kernels

#endif  // x86-64
