// SPDX-License-Identifier: Apache-2.0
#include "runtime/matmul/layout.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"

namespace rk::runtime::matmul {
namespace {

// Calls take(column, first place, step, count) for runs of evenly spaced elements of one row.
template <typename Take>
void for_each_run(const BLayout& layout, int64_t row, const Take& take) {
  switch (layout.form) {
    case BForm::kNormal:
      return take(0, row * layout.n, 1, layout.n);
    case BForm::kTransposed:
      return take(0, row, layout.k, layout.n);
    case BForm::kNative:
      for (int64_t column = 0; column < layout.n; column += layout.sub_n) {
        take(column, layout.place(row, column), layout.sub_k,
             std::min(layout.sub_n, layout.n - column));
      }
  }
}

template <typename Element>
void read_run(const uint8_t* data, int64_t place, int64_t step, int64_t count, Element* to) {
  const uint8_t* from = data + place * static_cast<int64_t>(sizeof(Element));
  if (step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Element));
    return;
  }
  for (int64_t i = 0; i < count; ++i, from += step * static_cast<int64_t>(sizeof(Element)))
    std::memcpy(to + i, from, sizeof(Element));
}

void read_run_i4(const uint8_t* data, int64_t place, int64_t step, int64_t count, int8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = int4_at(data, place + i * step);
}

}  // namespace

int64_t BLayout::elements() const {
  if (form != BForm::kNative) return k * n;
  return align_up(n, sub_n) * align_up(k, sub_k);
}

int64_t BLayout::place(int64_t row, int64_t column) const {
  if (form == BForm::kNormal) return row * n + column;
  if (form == BForm::kTransposed) return column * k + row;
  const int64_t first = row / segment * segment;  // of this piece
  const int64_t rows = std::min(segment, k - first);
  const int64_t in_piece = row - first;
  const int64_t k_blocks = ceil_div(rows, sub_k);
  return first * align_up(n, sub_n) +
         ((column / sub_n * k_blocks + in_piece / sub_k) * sub_n + column % sub_n) * sub_k +
         in_piece % sub_k;
}

void read_b_row_i8(const BLayout& layout, DType dtype, const uint8_t* b, int64_t row, int8_t* to) {
  for_each_run(layout, row, [&](int64_t column, int64_t place, int64_t step, int64_t count) {
    if (dtype == DType::kI4) {
      read_run_i4(b, place, step, count, to + column);
    } else {
      read_run<int8_t>(b, place, step, count, to + column);
    }
  });
}

void read_b_row_f16(const BLayout& layout, const uint8_t* b, int64_t row, uint16_t* to) {
  for_each_run(layout, row, [&](int64_t column, int64_t place, int64_t step, int64_t count) {
    read_run<uint16_t>(b, place, step, count, to + column);
  });
}

int64_t RowLayout::elements() const {
  return rows * (block == 0 ? columns : align_up(columns, block));
}

namespace {

template <typename Take>
void for_each_block(const RowLayout& layout, int64_t row, const Take& take) {
  const int64_t block = layout.block == 0 ? layout.columns : layout.block;
  for (int64_t column = 0; column < layout.columns; column += block)
    take(column, layout.place(row, column), std::min(block, layout.columns - column));
}

}  // namespace

void read_row_i8(const RowLayout& layout, DType dtype, const uint8_t* a, int64_t row, int8_t* to) {
  for_each_block(layout, row, [&](int64_t column, int64_t place, int64_t count) {
    if (dtype == DType::kI4) {
      read_run_i4(a, place, 1, count, to + column);
    } else {
      read_run<int8_t>(a, place, 1, count, to + column);
    }
  });
}

void read_row_f16(const RowLayout& layout, const uint8_t* a, int64_t row, uint16_t* to) {
  for_each_block(layout, row, [&](int64_t column, int64_t place, int64_t count) {
    read_run<uint16_t>(a, place, 1, count, to + column);
  });
}

void to_native(const BLayout& native, DType dtype, const uint8_t* normal, uint8_t* out) {
  const int64_t bits = bit_width(dtype);
  std::memset(out, 0, static_cast<size_t>(ceil_div(native.elements() * bits, int64_t{8})));
  for (int64_t row = 0; row < native.k; ++row) {
    for_each_run(native, row, [&](int64_t column, int64_t place, int64_t step, int64_t count) {
      const int64_t from = row * native.n + column;
      for (int64_t i = 0; i < count; ++i, place += step) {
        if (dtype == DType::kI4) {
          const int nibble = int4_at(normal, from + i) & 15;
          out[place / 2] = static_cast<uint8_t>(out[place / 2] | nibble << (place % 2 * 4));
        } else {
          const int64_t bytes = bits / 8;
          std::memcpy(out + place * bytes, normal + (from + i) * bytes, static_cast<size_t>(bytes));
        }
      }
    });
  }
}

}  // namespace rk::runtime::matmul
