// SPDX-License-Identifier: Apache-2.0
// Product of a float16 matrix and a packed float16 matrix into float32 sums, for the matmul interface; also where B holds
// small integers, which float16 has exactly. Every element is summed over k upwards (per group of k, where groups have
// scales of their own), so results do not depend on M, N or threads. See matrix_i8.h for the shape of the work.
#pragma once

#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {

inline constexpr int64_t kMatrixDepthF16 = 256;

// sums[panel][rows][16] += rows of A times `depth` rows of `panels` panels, which lie panel_step elements apart. With more
// than kFewRows rows, depth is at most kMatrixDepthF16.
struct MultiplyF16Args {
  const float* a;
  int64_t a_row_step;
  int64_t rows;
  const uint16_t* panel;
  int64_t panel_step;
  int64_t panels;
  int64_t depth;
  float* sums;
  int64_t sums_step;  // from panel to panel
};
struct MatrixF16Kernel {
  const char* name;
  void (*multiply)(const MultiplyF16Args& args);
};
const MatrixF16Kernel& matrix_f16_kernel();
std::vector<const MatrixF16Kernel*> matrix_f16_kernels();

// B in panels: [n / 16][k][16] of float16 bits.
struct PackedF16 {
  const MatrixF16Kernel* kernel = nullptr;
  int64_t k = 0, n = 0;
  Buffer data;
};
using ReadRowF16 = std::function<void(int64_t row, uint16_t* to)>;
Result<PackedF16> pack_f16(int64_t k, int64_t n, const ReadRowF16& read_row, ThreadPool* pool,
                           const MatrixF16Kernel& kernel = matrix_f16_kernel());

// A as float32.
struct RowsF32 {
  int64_t m = 0, k = 0;
  int64_t row_step = 0;  // elements
  Buffer data;
};
Status load_rows_f16(int64_t m, int64_t k, const ReadRowF16& read_row, ThreadPool* pool,
                     RowsF32& rows);

// Scales of groups of k: the sum of each group is multiplied by scale[n * groups + g] before it is added.
struct GroupScales {
  int64_t group_size = 0;  // 0: no groups. Divides k.
  const float* scale = nullptr;
};
void matrix_f16(const RowsF32& a, const PackedF16& b, const GroupScales& groups, ThreadPool* pool,
                const StoreTile<float>& store);

}  // namespace rk::kernels
