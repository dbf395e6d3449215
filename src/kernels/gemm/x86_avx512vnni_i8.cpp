// SPDX-License-Identifier: Apache-2.0
// matrix_i8 with AVX-512 VNNI. vpdpbusd multiplies unsigned by signed bytes: B is kept as b + 128, and a row of A starts
// at -128 times its sum (matrix_i8.cpp). Four elements of a row of A are spread over a vector by the instruction itself.
#if defined(__x86_64__)

#include "kernels/x86_avx512.h"

#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

extern const MatrixI8Kernel matrix_i8__avx512vnni_14x16;

}  // namespace rk::kernels

RK_AVX512VNNI_BEGIN

namespace rk::kernels {
namespace {

template <int kRows>
void multiply_rows(const uint8_t* a, int64_t a_row_bytes, const uint8_t* panel, int64_t fours,
                   int32_t* sums) {
  __m512i sum[kRows];
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) sum[r] = _mm512_loadu_si512(sums + r * kPanelColumns);
  for (int64_t i = 0; i < fours; ++i, panel += 64) {
    const __m512i b = _mm512_loadu_si512(panel);
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      __builtin_memcpy(&four, a + r * a_row_bytes + i * 4, sizeof four);
      sum[r] = _mm512_dpbusd_epi32(sum[r], b, _mm512_set1_epi32(four));
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) _mm512_storeu_si512(sums + r * kPanelColumns, sum[r]);
}

// One row alone would wait for its own sum: four of them share the work.
void multiply_one(const uint8_t* a, const uint8_t* panel, int64_t fours, int32_t* sums) {
  __m512i sum[4] = {_mm512_loadu_si512(sums), _mm512_setzero_si512(), _mm512_setzero_si512(),
                    _mm512_setzero_si512()};
  int64_t i = 0;
  const auto add = [&](int s) {
    int32_t four;
    __builtin_memcpy(&four, a + i * 4, sizeof four);
    sum[s] =
        _mm512_dpbusd_epi32(sum[s], _mm512_loadu_si512(panel + i * 64), _mm512_set1_epi32(four));
    ++i;
  };
  while (i + 4 <= fours) {
    __builtin_prefetch(panel + i * 64 + 2048);
    __builtin_prefetch(panel + i * 64 + 2112);
    __builtin_prefetch(panel + i * 64 + 2176);
    __builtin_prefetch(panel + i * 64 + 2240);
    add(0), add(1), add(2), add(3);
  }
  while (i < fours) add(0);
  _mm512_storeu_si512(
      sums, _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3])));
}

void multiply_row(const void* a, const uint8_t* panel, int64_t panel_step, int64_t depth,
                  int32_t* sums, int64_t sums_step) {
  constexpr int kPanels = static_cast<int>(kRowPanels);
  const auto* const row = static_cast<const uint8_t*>(a);
  __m512i sum[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) sum[p] = _mm512_loadu_si512(sums + p * sums_step);
  for (int64_t k = 0; k < depth; k += 4) {
    int32_t four;
    __builtin_memcpy(&four, row + k, sizeof four);
    const __m512i x = _mm512_set1_epi32(four);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const uint8_t* const from = panel + p * panel_step + k * kPanelColumns;
      // One cache line of every panel; beyond the matrix this does nothing.
      __builtin_prefetch(from + 1024);
      sum[p] = _mm512_dpbusd_epi32(sum[p], _mm512_loadu_si512(from), x);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) _mm512_storeu_si512(sums + p * sums_step, sum[p]);
}

void multiply(const void* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel, int64_t depth,
              int32_t* sums) {
  const auto* const bytes = static_cast<const uint8_t*>(a);
  const int64_t fours = depth / 4;
  int64_t r = 0;
  const auto go = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows)
      multiply_rows<kRows>(bytes + r * a_row_bytes, a_row_bytes, panel, fours,
                           sums + r * kPanelColumns);
  };
  go.template operator()<14>();
  go.template operator()<8>();
  go.template operator()<4>();
  for (; r < rows; ++r)
    multiply_one(bytes + r * a_row_bytes, panel, fours, sums + r * kPanelColumns);
}

}  // namespace
}  // namespace rk::kernels

RK_AVX512VNNI_END

namespace rk::kernels {

const MatrixI8Kernel matrix_i8__avx512vnni_14x16 = {
    "matrix_i8__avx512vnni_14x16", 4, 1, 128, multiply, multiply_row};

}  // namespace rk::kernels

#endif  // x86-64
