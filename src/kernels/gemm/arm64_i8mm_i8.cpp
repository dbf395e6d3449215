// SPDX-License-Identifier: Apache-2.0
// matrix_i8 with ARM's products of byte matrices: two rows of A by two columns of B and eight elements of K.
#if defined(__aarch64__)

#include "kernels/arm64_i8mm.h"

#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

extern const MatrixI8Kernel matrix_i8__i8mm_4x16;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// Panels hold [16 columns][8 rows of B].
template <int kRows>
void multiply_rows(const int8_t* a, int64_t a_row_bytes, const int8_t* panel, int64_t eights,
                   int32_t* sums) {
  constexpr int kPairs = (kRows + 1) / 2;
  int32x4_t sum[kPairs][8];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v)
      load_row(sum[r / 2][v], r % 2 != 0, sums + r * kPanelColumns + v * 2);
  }
  for (int64_t i = 0; i < eights; ++i, panel += 128) {
    int8x16_t b[8];
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) b[v] = vld1q_s8(panel + v * 16);
#pragma GCC unroll 2
    for (int q = 0; q < kPairs; ++q) {
      const int8_t* const first = a + 2 * q * a_row_bytes + i * 8;
      const int8x16_t x = two_rows(first, 2 * q + 1 < kRows ? first + a_row_bytes : first);
#pragma GCC unroll 8
      for (int v = 0; v < 8; ++v) sum[q][v] = vmmlaq_s32(sum[q][v], x, b[v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v)
      store_row(sum[r / 2][v], r % 2 != 0, sums + r * kPanelColumns + v * 2);
  }
}

void multiply(const void* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel, int64_t depth,
              int32_t* sums) {
  const auto* const bytes = static_cast<const int8_t*>(a);
  int64_t r = 0;
  const auto go = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows)
      multiply_rows<kRows>(bytes + r * a_row_bytes, a_row_bytes,
                           reinterpret_cast<const int8_t*>(panel), depth / 8,
                           sums + r * kPanelColumns);
  };
  go.template operator()<4>();
  go.template operator()<2>();
  go.template operator()<1>();
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

const MatrixI8Kernel matrix_i8__i8mm_4x16 = {"matrix_i8__i8mm_4x16", 8, 1, 0, multiply, nullptr};

}  // namespace rk::kernels

#endif  // 64-bit ARM
