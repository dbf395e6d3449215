// SPDX-License-Identifier: Apache-2.0
// The float32 tile product for vector units of 128 and 256 bits: 6 rows by 16 columns of sums in registers, fused
// multiply-adds over k upwards. Written once over a float vector; the including file defines its CPU's frame,
// RK_ISA_BEGIN and RK_ISA_END. Private to kernels.
#pragma once

#include <cstdint>

#include "kernels/gemm/tile_f32.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <typename Float, int kRows>
inline void multiply_rows_f32(const float* a, int64_t a_row_stride, int64_t a_col_stride,
                              const float* panel, int64_t depth, float* sums) {
  constexpr int kVectors = 16 / Float::kLanes;
  typename Float::Vector sum[kRows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = Float::load(sums + r * kTileCols + v * Float::kLanes);
  }
  for (int64_t k = 0; k < depth; ++k, panel += kTileCols, a += a_col_stride) {
    typename Float::Vector b[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) b[v] = Float::load(panel + v * Float::kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const typename Float::Vector x = Float::spread(a + r * a_row_stride);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Float::fused(x, b[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      Float::store(sums + r * kTileCols + v * Float::kLanes, sum[r][v]);
  }
}

// A MultiplyTileF32.
template <typename Float>
void multiply_tile_f32(TileF32& tile, const float* a, int64_t a_row_stride, int64_t a_col_stride,
                       int64_t rows, int64_t depth) {
  static_assert(kTileCols % 16 == 0);
  int64_t r = 0;
  const auto go = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows) {
      for (int64_t column = 0; column < kTileCols; column += 16) {
        multiply_rows_f32<Float, kRows>(a + r * a_row_stride, a_row_stride, a_col_stride,
                                        tile.panel[0] + column, depth, tile.sums[r] + column);
      }
    }
  };
  go.template operator()<6>();
  go.template operator()<5>();  // of what is left, once at most
  go.template operator()<4>();
  go.template operator()<3>();
  go.template operator()<2>();
  go.template operator()<1>();
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
