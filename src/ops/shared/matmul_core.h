// SPDX-License-Identifier: Apache-2.0
// The row-by-row product behind MatMul and Gemm: sums in double for floats, exact (modulo 2^64) for
// integers.
#pragma once

#include <algorithm>

#include "ops/shared/elementwise.h"

namespace rk::ops {

// A matrix inside a tensor; strides in elements, so a transposed one is the same thing with the
// strides swapped.
template <typename T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// sums[j] = sum over k of a[row, k] * b[k, j], j below `columns`. `sums` has the accumulator type.
template <typename T, typename Sum>
void multiply_row(const MatrixView<T>& a, int64_t row, const MatrixView<T>& b, int64_t depth,
                  std::vector<Sum>& sums) {
  std::fill(sums.begin(), sums.end(), Sum{0});
  for (int64_t k = 0; k < depth; ++k) {
    const Sum left = static_cast<Sum>(a.data[row * a.row_stride + k * a.column_stride]);
    const T* right = b.data + k * b.row_stride;
    for (size_t j = 0; j < sums.size(); ++j) {
      sums[j] = wrap_add(
          sums[j],
          wrap_mul(left, static_cast<Sum>(right[static_cast<int64_t>(j) * b.column_stride])));
    }
  }
}

template <typename T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

}  // namespace rk::ops
