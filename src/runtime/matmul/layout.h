// SPDX-License-Identifier: Apache-2.0
// Where the elements of A, B and C lie (runtime API sheet, section 9.2). Rows are read and written here; nothing else
// knows the layouts. Note: int4 elements take half a byte, the earlier one in the low half, in every layout.
#pragma once

#include <cstdint>

#include "ir/type.h"

namespace rk::runtime::matmul {

enum class BForm : uint8_t { kNormal, kNative, kTransposed };  // [K, N]; blocks; [N, K]

struct BLayout {
  BForm form = BForm::kNormal;
  int64_t k = 0, n = 0;
  int64_t sub_n = 0, sub_k = 0;  // of native blocks
  int64_t segment = 0;  // rows of K per piece of a native B; at least k where there is one piece

  // Elements that B takes, padding included.
  int64_t elements() const;
  // The place of element (k, n), counted in elements: the formula, for single elements.
  int64_t place(int64_t row, int64_t column) const;
};

// One row of B, n elements. The bytes of int4 are spread to one element per byte.
void read_b_row_i8(const BLayout& layout, DType dtype, const uint8_t* b, int64_t row, int8_t* to);
void read_b_row_f16(const BLayout& layout, const uint8_t* b, int64_t row, uint16_t* to);

// One row of A, k elements: [m, k], or [k / block, m, block] where block is not 0.
struct RowLayout {
  int64_t rows = 0, columns = 0;
  int64_t block = 0;

  int64_t elements() const;
  int64_t place(int64_t row, int64_t column) const {
    return block == 0 ? row * columns + column
                      : (column / block * rows + row) * block + column % block;
  }
};
void read_row_i8(const RowLayout& layout, DType dtype, const uint8_t* a, int64_t row, int8_t* to);
void read_row_f16(const RowLayout& layout, const uint8_t* a, int64_t row, uint16_t* to);

// Normal [K, N] to `native`. Both hold elements of `dtype`; what is missing in a block becomes 0.
void to_native(const BLayout& native, DType dtype, const uint8_t* normal, uint8_t* out);

inline int8_t int4_at(const uint8_t* data, int64_t place) {
  const int nibble = data[place / 2] >> (place % 2 * 4) & 15;
  return static_cast<int8_t>(nibble >= 8 ? nibble - 16 : nibble);
}

}  // namespace rk::runtime::matmul
