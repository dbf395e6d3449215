// SPDX-License-Identifier: Apache-2.0
// float32 matrix product C = A * B + bias on plain row-major matrices, for the float evaluator's
// MatMul and Gemm. A batch is the caller's loop. Each element is summed from the bias on, over k
// upwards: the order depends on K only.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace rk::kernels {

struct GemmF32Args {
  int64_t m = 0;  // rows of C
  int64_t n = 0;  // columns of C
  int64_t k = 0;  // may be 0: C is the bias
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;  // overlaps neither a nor b
  // Elements between neighbors. Row-major A[m][k]: {k, 1}; a transposed A[k][m]: {1, m}.
  int64_t a_row_stride = 0;
  int64_t a_col_stride = 1;
  int64_t b_row_stride = 0;
  int64_t b_col_stride = 1;
  int64_t c_row_stride = 0;
  // bias[row * bias_row_stride + col * bias_col_stride], so {0, 1} is one value per column and {0,
  // 0} one for all; null: 0. May be c itself, with the strides of c: the product is added to it.
  const float* bias = nullptr;
  int64_t bias_row_stride = 0;
  int64_t bias_col_stride = 1;
};

// One unit is a tile of C of at most 128 rows by 32 columns. Row tiles are innermost.
int64_t gemm_f32_units(const GemmF32Args& args);
void gemm_f32(const GemmF32Args& args, IndexRange units);

}  // namespace rk::kernels
