// SPDX-License-Identifier: Apache-2.0
// From sums to C: zero points, scales, the one rounding, the layout.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fixed_point.h"
#include "base/status.h"
#include "kernels/gemm/matrix_i8.h"
#include "runtime/matmul/plan.h"

namespace rk::runtime::matmul {

// Scales and zero points of one matrix: 1, N, or N * K / group_size of them.
struct MatrixQuant {
  std::vector<float> scale = {1.0f};
  std::vector<int32_t> zero_point = {0};
};
struct ProductQuant {
  MatrixQuant a, b, c;
};

// Where C goes.
struct Target {
  RowLayout layout;
  DType dtype = DType::kUndefined;
  uint8_t* data = nullptr;
};

// The scale of B's channels after they were brought to one: the largest. Channel n is multiplied by
// rne(16384 * scale[n] / largest) / 2^14, as the NPU does for convolutions.
float largest_scale(const MatrixQuant& b);

// Integer sums. Exact: for integer C in the arithmetic of docs/matmul.md, for float C rounded once from a double.
class IntegerFinish {
 public:
  // kInvalidArgument where the scales of A, B and C cannot be expressed by the chip.
  static Result<IntegerFinish> make(const Kind& kind, const MatrixSizes& sizes,
                                    const ProductQuant& quant);

  void store(const kernels::MatrixTile<int32_t>& tile, const std::vector<int32_t>& row_sums,
             const std::vector<int32_t>& column_sums, const Target& c) const;

 private:
  int64_t corrected(int64_t sum, int64_t row_sum, int64_t column_sum, size_t n) const;

  int64_t k_ = 0;
  int64_t a_zero_ = 0;
  std::vector<int32_t> b_zero_;      // one, or per channel
  std::vector<int32_t> multiplier_;  // per channel, in 1 / 2^14; empty: all 1
  ScaleShift output_;                // of an int8 C
  int64_t c_zero_ = 0;
  std::vector<double> factor_;  // of a float C: one, or per channel
  bool plain_ = false;          // C is the sum itself
};

// Float sums, times one scale or one per channel.
void store_float(const kernels::MatrixTile<float>& tile, const std::vector<float>& scale,
                 const Target& c);

}  // namespace rk::runtime::matmul
