// SPDX-License-Identifier: Apache-2.0
// matrix_f16 in portable loops.
#include "base/half.h"
#include "kernels/gemm/matrix_f16.h"
#include "kernels/half_lanes.h"

namespace rk::kernels {

extern const MatrixF16Kernel matrix_f16__generic;

namespace {

void multiply(const MultiplyF16Args& args) {
  for (int64_t p = 0; p < args.panels; ++p) {
    for (int64_t k = 0; k < args.depth; ++k) {
      float b[kPanelColumns];
      widen_lanes<kPanelColumns>(args.panel + p * args.panel_step + k * kPanelColumns, b);
      for (int64_t r = 0; r < args.rows; ++r) {
        const float x = args.a[r * args.a_row_step + k];
        float* const sums = args.sums + p * args.sums_step + r * kPanelColumns;
        for (int64_t c = 0; c < kPanelColumns; ++c) sums[c] += x * b[c];
      }
    }
  }
}

}  // namespace

const MatrixF16Kernel matrix_f16__generic = {"matrix_f16__generic", multiply};

}  // namespace rk::kernels
