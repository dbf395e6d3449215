// SPDX-License-Identifier: Apache-2.0
// How a product is cut into units of work. Panels are innermost: the rows of one unit stay in the second-level cache
// while panels pass by. Private to kernels/gemm.
#pragma once

#include <algorithm>
#include <mutex>

#include "base/checked_math.h"
#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

// A matrix of the matmul interface has a 32-bit size.
inline constexpr uint64_t kMaxMatrixBytes = uint64_t{4} << 30;

struct MatrixUnit {
  int64_t row, rows;
  int64_t panel, panels;

  template <typename T>
  MatrixTile<T> tile(int64_t p, int64_t n, const T* sums) const {
    const int64_t column = (panel + p) * kPanelColumns;
    return {row, rows, column, std::min(kPanelColumns, n - column), sums};
  }
};

class MatrixUnits {
 public:
  MatrixUnits(int64_t m, int64_t n)
      : m_(m),
        panels_(ceil_div(n, kPanelColumns)),
        groups_(ceil_div(panels_, kMatrixPanels)),
        blocks_(ceil_div(m, kMatrixRows)) {}

  int64_t count() const { return groups_ * blocks_; }
  MatrixUnit at(int64_t i) const {
    const int64_t row = i / groups_ * kMatrixRows, panel = i % groups_ * kMatrixPanels;
    return {row, std::min(kMatrixRows, m_ - row), panel, std::min(kMatrixPanels, panels_ - panel)};
  }

 private:
  int64_t m_, panels_, groups_, blocks_;
};

}  // namespace rk::kernels
