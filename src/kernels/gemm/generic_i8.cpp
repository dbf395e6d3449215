// SPDX-License-Identifier: Apache-2.0
// matrix_i8 in portable loops.
#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

extern const MatrixI8Kernel matrix_i8__generic;

namespace {

void multiply(const void* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel, int64_t depth,
              int32_t* sums) {
  for (int64_t r = 0; r < rows; ++r) {
    const auto* const row =
        reinterpret_cast<const int8_t*>(static_cast<const uint8_t*>(a) + r * a_row_bytes);
    uint32_t acc[kPanelColumns];
    for (int64_t c = 0; c < kPanelColumns; ++c)
      acc[c] = static_cast<uint32_t>(sums[r * kPanelColumns + c]);
    for (int64_t k = 0; k < depth; ++k) {
      const auto* const b = reinterpret_cast<const int8_t*>(panel) + k * kPanelColumns;
      const int32_t x = row[k];
      for (int64_t c = 0; c < kPanelColumns; ++c) acc[c] += static_cast<uint32_t>(x * b[c]);
    }
    for (int64_t c = 0; c < kPanelColumns; ++c)
      sums[r * kPanelColumns + c] = static_cast<int32_t>(acc[c]);
  }
}

}  // namespace

const MatrixI8Kernel matrix_i8__generic = {"matrix_i8__generic", 1, 1, 0, multiply, nullptr};

}  // namespace rk::kernels
