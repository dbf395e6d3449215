// SPDX-License-Identifier: Apache-2.0
// matrix_f16 with NEON: see lane_matrix_f16.h.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"

#include "kernels/gemm/lane_matrix_f16.h"

namespace rk::kernels {

extern const MatrixF16Kernel matrix_f16__neon_6x16;

namespace {

struct LoadHalf {
  static float32x4_t load(const uint16_t* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }
};

void multiply(const MultiplyF16Args& args) { multiply_f16<NeonF32, LoadHalf, 6>(args); }

}  // namespace

const MatrixF16Kernel matrix_f16__neon_6x16 = {"matrix_f16__neon_6x16", multiply};

}  // namespace rk::kernels

#endif  // 64-bit ARM
