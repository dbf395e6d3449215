// SPDX-License-Identifier: Apache-2.0
// matrix_f16 over the float vectors of one instruction set: kRows rows by one panel of sums in registers, fused
// multiply-adds over k upwards. `Half` loads a vector of float16 as floats. A panel is widened once where many rows meet
// it, else as it is read. Included in the frame of an instruction set. Private to kernels/gemm.
#pragma once

#include "kernels/gemm/matrix_f16.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// kRows rows by kPanels panels; elements of the panels are float or float16.
template <typename Float, typename Half, int kRows, int kPanels, typename Element>
inline void multiply_tile(const float* a, int64_t a_row_step, const Element* panel,
                          int64_t panel_step, int64_t depth, float* sums, int64_t sums_step) {
  constexpr int kVectors = static_cast<int>(kPanelColumns) / Float::kLanes;
  constexpr int kAll = kVectors * kPanels;
  typename Float::Vector sum[kRows][kAll];
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v)
      sum[r][v] = Float::load(sums + v / kVectors * sums_step + r * kPanelColumns +
                              v % kVectors * Float::kLanes);
  }
  for (int64_t k = 0; k < depth; ++k, panel += kPanelColumns) {
    typename Float::Vector b[kAll];
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v) {
      const Element* const from = panel + v / kVectors * panel_step + v % kVectors * Float::kLanes;
      if constexpr (sizeof(Element) == 2) {
        b[v] = Half::load(from);
      } else {
        b[v] = Float::load(from);
      }
    }
    // Streams of single rows are read at memory speed; beyond the matrix this does nothing.
    if constexpr (kRows == 1 && sizeof(Element) == 2) {
      if ((k & 1) == 0) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) __builtin_prefetch(panel + p * panel_step + 512);
      }
    }
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      const typename Float::Vector x = Float::spread(a + r * a_row_step + k);
#pragma GCC unroll 16
      for (int v = 0; v < kAll; ++v) sum[r][v] = Float::fused(x, b[v], sum[r][v]);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v)
      Float::store(
          sums + v / kVectors * sums_step + r * kPanelColumns + v % kVectors * Float::kLanes,
          sum[r][v]);
  }
}

template <typename Float, typename Half, int kRows, typename Element>
inline void multiply_panel(const MultiplyF16Args& args, const Element* panel, float* sums) {
  int64_t r = 0;
  const auto go = [&]<int kCount>() {
    for (; r + kCount <= args.rows; r += kCount)
      multiply_tile<Float, Half, kCount, 1>(args.a + r * args.a_row_step, args.a_row_step, panel, 0,
                                            args.depth, sums + r * kPanelColumns, 0);
  };
  go.template operator()<kRows>();
  go.template operator()<3>();
  go.template operator()<1>();
}

// A MatrixF16Kernel's multiply.
template <typename Float, typename Half, int kRows>
inline void multiply_f16(const MultiplyF16Args& args) {
  int64_t p = 0;
  // One row alone would wait for its own sums: several panels at a time.
  if (args.rows == 1) {
    for (; p + 4 <= args.panels; p += 4)
      multiply_tile<Float, Half, 1, 4>(args.a, 0, args.panel + p * args.panel_step, args.panel_step,
                                       args.depth, args.sums + p * args.sums_step, args.sums_step);
  }
  for (; p < args.panels; ++p) {
    const uint16_t* const panel = args.panel + p * args.panel_step;
    float* const sums = args.sums + p * args.sums_step;
    if (args.rows <= kFewRows) {
      multiply_panel<Float, Half, kRows>(args, panel, sums);
      continue;
    }
    alignas(64) float wide[kMatrixDepthF16 * kPanelColumns];
    for (int64_t i = 0; i < args.depth * kPanelColumns; i += Float::kLanes)
      Float::store(wide + i, Half::load(panel + i));
    multiply_panel<Float, Half, kRows>(args, static_cast<const float*>(wide), sums);
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
