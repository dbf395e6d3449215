// SPDX-License-Identifier: Apache-2.0
// gemm_f32 in portable loops. B is copied panel by panel, so a transposed B costs the same and the inner loop reads
// straight.
#include <cstring>

#include "base/checked_math.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/tile_f32.h"

namespace rk::kernels {
namespace {

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// kRows x 8 sums in registers: 8 SSE registers for 4 rows.
template <int kRows>
void multiply_rows(const float* a, int64_t a_row_stride, int64_t a_col_stride,
                   const float (*panel)[kTileCols], int64_t depth, float (*sums)[kTileCols]) {
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

void load_panel(const GemmF32Args& args, int64_t k0, int64_t depth, int64_t col, int64_t cols,
                TurnSquareF32 turn, TileF32& tile) {
  const float* const b = args.b + k0 * args.b_row_stride + col * args.b_col_stride;
  const bool turned = turn != nullptr && args.b_row_stride == 1;
  const int64_t turned_depth = turned ? depth - depth % kTurnedSquare : 0;
  const int64_t turned_cols = turned ? cols - cols % kTurnedSquare : 0;
  for (int64_t k = 0; k < turned_depth; k += kTurnedSquare) {
    for (int64_t c = 0; c < turned_cols; c += kTurnedSquare) {
      // The panel's columns c.. are those of a panel that begins there.
      turn(b + c * args.b_col_stride + k, args.b_col_stride,
           reinterpret_cast<float(*)[kTileCols]>(&tile.panel[k][c]));
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    const float* const row = b + k * args.b_row_stride;
    float* const panel = tile.panel[k];
    if (args.b_col_stride == 1) {
      std::memcpy(panel, row, static_cast<size_t>(cols) * sizeof(float));
    } else {
      for (int64_t c = k < turned_depth ? turned_cols : 0; c < cols; ++c)
        panel[c] = row[c * args.b_col_stride];
    }
    for (int64_t c = cols; c < kTileCols; ++c) panel[c] = 0.0f;
  }
}

void start_at_bias(const GemmF32Args& args, int64_t row, int64_t rows, int64_t col, int64_t cols,
                   TileF32& tile) {
  std::memset(tile.sums, 0, static_cast<size_t>(rows) * sizeof tile.sums[0]);
  if (args.bias == nullptr) return;
  for (int64_t r = 0; r < rows; ++r) {
    const float* const bias =
        args.bias + (row + r) * args.bias_row_stride + col * args.bias_col_stride;
    if (args.bias_col_stride == 1) {
      std::memcpy(tile.sums[r], bias, static_cast<size_t>(cols) * sizeof(float));
      continue;
    }
    for (int64_t c = 0; c < cols; ++c) tile.sums[r][c] = bias[c * args.bias_col_stride];
  }
}

}  // namespace

void multiply_tile_f32__generic(TileF32& tile, const float* a, int64_t a_row_stride,
                                int64_t a_col_stride, int64_t rows, int64_t depth) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    multiply_rows<4>(a + r * a_row_stride, a_row_stride, a_col_stride, tile.panel, depth,
                     tile.sums + r);
  }
  for (; r < rows; ++r) {
    multiply_rows<1>(a + r * a_row_stride, a_row_stride, a_col_stride, tile.panel, depth,
                     tile.sums + r);
  }
}

void gemm_f32_by(MultiplyTileF32 multiply, const GemmF32Args& args, IndexRange units,
                 TurnSquareF32 turn) {
  const int64_t row_tiles = ceil_div(args.m, kTileRows);
  TileF32 tile;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t row = unit % row_tiles * kTileRows;
    const int64_t col = unit / row_tiles * kTileCols;
    const int64_t rows = smaller(kTileRows, args.m - row);
    const int64_t cols = smaller(kTileCols, args.n - col);
    start_at_bias(args, row, rows, col, cols, tile);
    for (int64_t k0 = 0; k0 < args.k; k0 += kTileDepth) {
      const int64_t depth = smaller(kTileDepth, args.k - k0);
      load_panel(args, k0, depth, col, cols, turn, tile);
      multiply(tile, args.a + row * args.a_row_stride + k0 * args.a_col_stride, args.a_row_stride,
               args.a_col_stride, rows, depth);
    }
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(args.c + (row + r) * args.c_row_stride + col, tile.sums[r],
                  static_cast<size_t>(cols) * sizeof(float));
    }
  }
}

void gemm_f32__generic(const GemmF32Args& args, IndexRange units) {
  gemm_f32_by(multiply_tile_f32__generic, args, units);
}

}  // namespace rk::kernels
