// SPDX-License-Identifier: Apache-2.0
// Product of an int8 matrix and a packed int8 matrix into int32 sums, for the matmul interface. Sums wrap at 32 bits like
// the accumulators they stand for; every variant gives the same bits.
//
// A is brought into rows that the variant reads (once per product), B into panels of 16 columns (once per matrix). The
// caller gets finished tiles of sums and stores them in whatever type and layout it wants.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"

namespace rk::kernels {

inline constexpr int64_t kPanelColumns = 16;
inline constexpr int64_t kMatrixRows = 96;    // rows of one unit
inline constexpr int64_t kMatrixPanels = 8;   // panels of one unit
inline constexpr int64_t kMatrixDepth = 512;  // of a panel that a variant may widen in its scratch

// A finished piece of C: element (r, c) is sums[r * kPanelColumns + c].
template <typename T>
struct MatrixTile {
  int64_t row, rows;
  int64_t column, columns;  // at most kPanelColumns
  const T* sums;
};
template <typename T>
using StoreTile = std::function<void(const MatrixTile<T>&)>;

// sums[r][16] += rows of A times `depth` rows of one panel; depth is a multiple of the step except at the end of K, where
// rows and panel are padded. With more than kFewRows rows, depth is at most kMatrixDepth.
using MultiplyI8 = void (*)(const void* a, int64_t a_row_bytes, int64_t rows, const uint8_t* panel,
                            int64_t depth, int32_t* sums);
inline constexpr int64_t kFewRows = 11;
// The same for one row of A and kRowPanels panels at a time, each of them a stream of its own: memory answers four streams
// faster than one. Panels lie `panel_step` bytes apart, their sums `sums_step` elements.
using MultiplyRowI8 = void (*)(const void* a, const uint8_t* panel, int64_t panel_step,
                               int64_t depth, int32_t* sums, int64_t sums_step);
inline constexpr int64_t kRowPanels = 4;

struct MatrixI8Kernel {
  const char* name;
  int32_t step;           // rows of B whose elements of one column lie next to each other
  int32_t element_bytes;  // of A as the variant reads it: 1 or 2
  int32_t bias;           // added to B so that it is unsigned: 0 or 128
  MultiplyI8 multiply;
  MultiplyRowI8 multiply_row;  // null: a row has nothing to gain from it
};
// The best that this CPU has, and all of them, for tests.
const MatrixI8Kernel& matrix_i8_kernel();
std::vector<const MatrixI8Kernel*> matrix_i8_kernels();

// B in panels: [n / 16][k / step][16][step], padded with zeros. May be shared by threads.
struct PackedI8 {
  const MatrixI8Kernel* kernel = nullptr;
  int64_t k = 0, n = 0;
  Buffer data;
  std::vector<int32_t> column_sums;  // of B, wrapping
};
// `read_row` writes n elements of row k of B.
using ReadRowI8 = std::function<void(int64_t k, int8_t* to)>;
Result<PackedI8> pack_i8(int64_t k, int64_t n, const ReadRowI8& read_row, ThreadPool* pool,
                         const MatrixI8Kernel& kernel = matrix_i8_kernel());

// A in the variant's rows.
struct RowsI8 {
  int64_t m = 0, k = 0;
  int64_t row_bytes = 0;
  Buffer data;
  std::vector<int32_t> row_sums;  // of A, wrapping
};
// Reuses the memory of `rows`. `read_row` writes k elements of row m of A.
Status load_rows_i8(int64_t m, int64_t k, const ReadRowI8& read_row, ThreadPool* pool, RowsI8& rows,
                    const MatrixI8Kernel& kernel = matrix_i8_kernel());

// Both in the form of one variant, with the same k.
void matrix_i8(const RowsI8& a, const PackedI8& b, ThreadPool* pool,
               const StoreTile<int32_t>& store);

}  // namespace rk::kernels
