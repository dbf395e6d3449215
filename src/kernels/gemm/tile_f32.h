// SPDX-License-Identifier: Apache-2.0
// The inner tile shared by gemm_f32 and conv_f32: sums of a 64 x 32 piece of the output live in a local array while panels
// of B pass by. Every element is summed over k upwards, one product at a time, whatever the tile: that is what makes
// results independent of how the work is cut. Private to kernels.
#pragma once

#include <cstdint>

namespace rk::kernels {

inline constexpr int64_t kTileRows = 64;
inline constexpr int64_t kTileCols = 32;
inline constexpr int64_t kTileDepth = 128;  // of B packed at a time: 16 KiB

struct TileF32 {
  alignas(64) float sums[kTileRows][kTileCols];
  alignas(64) float panel[kTileDepth][kTileCols];  // of B; columns beyond the matrix are 0
};

namespace tile_detail {

// kRows x 8 sums in registers: 8 SSE registers for 4 rows.
template <int kRows>
inline void multiply_rows(const float* a, int64_t a_row_stride, int64_t a_col_stride,
                          const float (*panel)[kTileCols], int64_t depth,
                          float (*sums)[kTileCols]) {
  constexpr int kCols = 8;
  for (int64_t col = 0; col < kTileCols; col += kCols) {
    float acc[kRows][kCols];
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kCols; ++c) acc[r][c] = sums[r][col + c];
    }
    for (int64_t k = 0; k < depth; ++k) {
      const float* const b = &panel[k][col];
      for (int r = 0; r < kRows; ++r) {
        const float x = a[r * a_row_stride + k * a_col_stride];
        for (int c = 0; c < kCols; ++c) acc[r][c] += x * b[c];
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kCols; ++c) sums[r][col + c] = acc[r][c];
    }
  }
}

}  // namespace tile_detail

// sums[r] += a[r] * panel for `rows` rows of A and `depth` values of k.
inline void multiply_tile(TileF32& tile, const float* a, int64_t a_row_stride, int64_t a_col_stride,
                          int64_t rows, int64_t depth) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    tile_detail::multiply_rows<4>(a + r * a_row_stride, a_row_stride, a_col_stride, tile.panel,
                                  depth, tile.sums + r);
  }
  for (; r < rows; ++r) {
    tile_detail::multiply_rows<1>(a + r * a_row_stride, a_row_stride, a_col_stride, tile.panel,
                                  depth, tile.sums + r);
  }
}

}  // namespace rk::kernels
