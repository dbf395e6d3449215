// SPDX-License-Identifier: Apache-2.0
// The inner tile shared by gemm_f32 and conv_f32: sums of a 128 x 32 piece of the output live in a local array while
// panels of B pass by. Every element is summed over k upwards, one product at a time, whatever the tile: that is what
// makes results independent of how the work is cut. A variant supplies the product of one tile. Private to kernels.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace rk::kernels {

struct GemmF32Args;
struct ConvF32Args;

inline constexpr int64_t kTileRows = 128;
inline constexpr int64_t kTileCols = 32;
inline constexpr int64_t kTileDepth = 128;  // of B packed at a time: 16 KiB

struct TileF32 {
  alignas(64) float sums[kTileRows][kTileCols];
  alignas(64) float panel[kTileDepth][kTileCols];  // of B; columns beyond the matrix are 0
};

// sums[r] += a[r] * panel for `rows` rows of A and `depth` values of k.
using MultiplyTileF32 = void (*)(TileF32& tile, const float* a, int64_t a_row_stride,
                                 int64_t a_col_stride, int64_t rows, int64_t depth);
void multiply_tile_f32__generic(TileF32& tile, const float* a, int64_t a_row_stride,
                                int64_t a_col_stride, int64_t rows, int64_t depth);

// A square of a transposed B into the panel: panel[k][c] = b[c * b_step + k] for 16 values of each.
inline constexpr int64_t kTurnedSquare = 16;
using TurnSquareF32 = void (*)(const float* b, int64_t b_step, float (*panel)[kTileCols]);

// The kernels around that product. Without `turn` a transposed B is read element by element.
void gemm_f32_by(MultiplyTileF32 multiply, const GemmF32Args& args, IndexRange units,
                 TurnSquareF32 turn = nullptr);
void conv_f32_by(MultiplyTileF32 multiply, const ConvF32Args& args, IndexRange units);

}  // namespace rk::kernels
