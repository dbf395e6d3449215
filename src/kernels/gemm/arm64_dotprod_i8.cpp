// SPDX-License-Identifier: Apache-2.0
// matrix_i8 with ARM's dot products of signed bytes.
#if defined(__aarch64__)

#include "kernels/target_frame.h"
#if defined(__clang__)
#define RK_ISA_BEGIN RK_TARGET_BEGIN("dotprod")
#else
#define RK_ISA_BEGIN RK_TARGET_BEGIN("arch=armv8.2-a+dotprod")
#endif
#define RK_ISA_END RK_TARGET_END

#include "kernels/arm64_neon.h"

#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

extern const MatrixI8Kernel matrix_i8__dotprod_6x16;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <int kRows>
void multiply_rows(const uint8_t* a, int64_t a_row_bytes, const uint8_t* panel, int64_t fours,
                   int32_t* sums) {
  int32x4_t sum[kRows][4];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[r][v] = vld1q_s32(sums + r * kPanelColumns + v * 4);
  }
  for (int64_t i = 0; i < fours; ++i, panel += 64) {
    int8x16_t b[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) b[v] = vreinterpretq_s8_u8(vld1q_u8(panel + v * 16));
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      __builtin_memcpy(&four, a + r * a_row_bytes + i * 4, sizeof four);
      const int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(four));
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sum[r][v] = vdotq_s32(sum[r][v], x, b[v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) vst1q_s32(sums + r * kPanelColumns + v * 4, sum[r][v]);
  }
}

void multiply(const void* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel, int64_t depth,
              int32_t* sums) {
  const auto* const bytes = static_cast<const uint8_t*>(a);
  int64_t r = 0;
  const auto go = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows)
      multiply_rows<kRows>(bytes + r * a_row_bytes, a_row_bytes, panel, depth / 4,
                           sums + r * kPanelColumns);
  };
  go.template operator()<6>();
  go.template operator()<2>();
  go.template operator()<1>();
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

const MatrixI8Kernel matrix_i8__dotprod_6x16 = {
    "matrix_i8__dotprod_6x16", 4, 1, 0, multiply, nullptr};

}  // namespace rk::kernels

#endif  // 64-bit ARM
