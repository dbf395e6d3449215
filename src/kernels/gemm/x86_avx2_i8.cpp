// SPDX-License-Identifier: Apache-2.0
// matrix_i8 with AVX2: pairs of int16 products by vpmaddwd, as the convolution has them. Rows of A are int16 already; a
// panel of B is widened once where many rows meet it, else as it is read, so that one row costs one pass over memory.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

extern const MatrixI8Kernel matrix_i8__avx2_6x16;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

inline __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline void store(void* to, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
inline __m256i widened(const uint8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// As assembly, because a compiler that moves products apart from their additions runs out of registers.
inline void add_products(__m256i& sum, __m256i x, __m256i w) {
  __m256i products;
  asm("vpmaddwd %[w], %[x], %[products]\n\tvpaddd %[products], %[sum], %[sum]"
      : [sum] "+x"(sum), [products] "=&x"(products)
      : [x] "x"(x), [w] "x"(w));
}

struct WidePanel {  // int16, [k / 2][16][2]
  static constexpr int64_t kPairBytes = 64;
  static __m256i low(const uint8_t* from) { return load(from); }
  static __m256i high(const uint8_t* from) { return load(from + 32); }
};
struct StoredPanel {  // int8
  static constexpr int64_t kPairBytes = 32;
  static __m256i low(const uint8_t* from) { return widened(from); }
  static __m256i high(const uint8_t* from) { return widened(from + 16); }
};

template <typename Panel, int kRows>
void multiply_rows(const uint8_t* a, int64_t a_row_bytes, const uint8_t* panel, int64_t pairs,
                   int32_t* sums) {
  __m256i low[kRows], high[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    low[r] = load(sums + r * kPanelColumns);
    high[r] = load(sums + r * kPanelColumns + 8);
  }
  const uint8_t* row[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) row[r] = a + r * a_row_bytes;
  for (int64_t p = 0; p < pairs; ++p, panel += Panel::kPairBytes) {
    // Far enough for a stream that one core reads at memory speed; beyond the matrix it does nothing.
    if constexpr (kRows == 1) __builtin_prefetch(panel + 2048);
    const __m256i b_low = Panel::low(panel), b_high = Panel::high(panel);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, row[r] + p * 4, sizeof pair);
      const __m256i x = _mm256_set1_epi32(pair);
      add_products(low[r], x, b_low);
      add_products(high[r], x, b_high);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    store(sums + r * kPanelColumns, low[r]);
    store(sums + r * kPanelColumns + 8, high[r]);
  }
}

template <typename Panel>
void multiply_panel(const uint8_t* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel,
                    int64_t pairs, int32_t* sums) {
  int64_t r = 0;
  const auto go = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows)
      multiply_rows<Panel, kRows>(a + r * a_row_bytes, a_row_bytes, panel, pairs,
                                  sums + r * kPanelColumns);
  };
  go.template operator()<6>();
  go.template operator()<4>();
  go.template operator()<2>();
  go.template operator()<1>();
}

void multiply_row(const void* a, const uint8_t* panel, int64_t panel_step, int64_t depth,
                  int32_t* sums, int64_t sums_step) {
  constexpr int kPanels = static_cast<int>(kRowPanels);
  const auto* const row = static_cast<const uint8_t*>(a);
  __m256i low[kPanels], high[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    low[p] = load(sums + p * sums_step);
    high[p] = load(sums + p * sums_step + 8);
  }
  const auto add = [&](int64_t offset, int32_t pair) {
    const __m256i x = _mm256_set1_epi32(pair);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const uint8_t* const from = panel + p * panel_step + offset;
      add_products(low[p], x, StoredPanel::low(from));
      add_products(high[p], x, StoredPanel::high(from));
    }
  };
  const auto pair_at = [&](int64_t k) {
    int32_t pair;
    __builtin_memcpy(&pair, row + k * 2, sizeof pair);
    return pair;
  };
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    // One cache line of every panel; beyond the matrix this does nothing.
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
      __builtin_prefetch(panel + p * panel_step + k * kPanelColumns + 1024);
    add(k * kPanelColumns, pair_at(k));
    add((k + 2) * kPanelColumns, pair_at(k + 2));
  }
  for (; k < depth; k += 2) add(k * kPanelColumns, pair_at(k));
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    store(sums + p * sums_step, low[p]);
    store(sums + p * sums_step + 8, high[p]);
  }
}

void multiply(const void* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel, int64_t depth,
              int32_t* sums) {
  const auto* const bytes = static_cast<const uint8_t*>(a);
  if (rows <= kFewRows) {
    multiply_panel<StoredPanel>(bytes, a_row_bytes, rows, panel, depth / 2, sums);
    return;
  }
  alignas(64) uint8_t wide[kMatrixDepth * kPanelColumns * 2];
  for (int64_t i = 0; i < depth * kPanelColumns; i += 16) store(wide + i * 2, widened(panel + i));
  multiply_panel<WidePanel>(bytes, a_row_bytes, rows, wide, depth / 2, sums);
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

const MatrixI8Kernel matrix_i8__avx2_6x16 = {
    "matrix_i8__avx2_6x16", 2, 2, 0, multiply, multiply_row};

}  // namespace rk::kernels

#endif  // x86-64
