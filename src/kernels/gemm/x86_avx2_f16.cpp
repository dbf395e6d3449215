// SPDX-License-Identifier: Apache-2.0
// matrix_f16 with AVX2, FMA and F16C: see lane_matrix_f16.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/gemm/lane_matrix_f16.h"

namespace rk::kernels {

extern const MatrixF16Kernel matrix_f16__avx2_6x16;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct LoadHalf {
  static __m256 load(const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
};

void multiply(const MultiplyF16Args& args) { multiply_f16<Avx2F32, LoadHalf, 6>(args); }

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

const MatrixF16Kernel matrix_f16__avx2_6x16 = {"matrix_f16__avx2_6x16", multiply};

}  // namespace rk::kernels

#endif  // x86-64
