// SPDX-License-Identifier: Apache-2.0
#include "runtime/matmul/finish.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"

namespace rk::runtime::matmul {
namespace {

template <typename T>
T saturate(int64_t value) {
  return static_cast<T>(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

// To nearest even in one step. Rounding to float first would round twice, so that float is rounded to odd: then the
// second rounding sees on which side of a tie the number was.
uint16_t double_to_half(double value) {
  auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) != value && std::isfinite(narrow)) {
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(value))
      narrow = std::nextafterf(narrow, 0.0f);
    narrow = std::bit_cast<float>(std::bit_cast<uint32_t>(narrow) | 1u);
  }
  return float_to_half(narrow);
}

// Calls value(row in tile, column in tile) for each element and writes what it gives.
template <typename T, typename Tile, typename Value>
void write(const Tile& tile, const Target& c, const Value& value) {
  for (int64_t r = 0; r < tile.rows; ++r) {
    for (int64_t i = 0; i < tile.columns; ++i) {
      const T element = value(r, i);
      std::memcpy(
          c.data + c.layout.place(tile.row + r, tile.column + i) * static_cast<int64_t>(sizeof(T)),
          &element, sizeof element);
    }
  }
}

template <typename T>
T at(const std::vector<T>& values, size_t n) {
  return values.size() == 1 ? values[0] : values[n];
}

}  // namespace

float largest_scale(const MatrixQuant& b) {
  return *std::max_element(b.scale.begin(), b.scale.end());
}

Result<IntegerFinish> IntegerFinish::make(const Kind& kind, const MatrixSizes& sizes,
                                          const ProductQuant& quant) {
  IntegerFinish out;
  out.k_ = sizes.k;
  out.a_zero_ = quant.a.zero_point[0];
  out.b_zero_ = quant.b.zero_point;
  const DType c = kind.type->c;
  const double a_scale = quant.a.scale[0];
  if (is_float(c)) {
    for (const float scale : quant.b.scale) out.factor_.push_back(a_scale * scale);
    return out;
  }
  const float largest = largest_scale(quant.b);
  if (kind.b_quant.reach == QuantReach::kChannel) {
    for (const float scale : quant.b.scale) {
      const double share = 16384.0 * scale / largest;
      out.multiplier_.push_back(static_cast<int32_t>(round_even(share)));
    }
  }
  if (c == DType::kI8) {
    auto output = to_scale_shift(a_scale * largest / quant.c.scale[0]);
    if (!output.ok()) return output.status().with_context("scale of A times B over C");
    out.output_ = *output;
    out.c_zero_ = quant.c.zero_point[0];
  }
  const bool no_zero = out.a_zero_ == 0 && std::all_of(out.b_zero_.begin(), out.b_zero_.end(),
                                                       [](int32_t zero) { return zero == 0; });
  const bool no_scale = std::all_of(out.multiplier_.begin(), out.multiplier_.end(),
                                    [](int32_t m) { return m == 16384; });
  out.plain_ = c == DType::kI32 && no_zero && no_scale;
  return out;
}

// sum (a - za)(b - zb), from sum a * b.
int64_t IntegerFinish::corrected(int64_t sum, int64_t row_sum, int64_t column_sum, size_t n) const {
  const int64_t b_zero = at(b_zero_, n);
  const int64_t value = sum - a_zero_ * column_sum - b_zero * row_sum + k_ * a_zero_ * b_zero;
  return multiplier_.empty() ? value : scale_round(value, at(multiplier_, n), 14);
}

void IntegerFinish::store(const kernels::MatrixTile<int32_t>& tile,
                          const std::vector<int32_t>& row_sums,
                          const std::vector<int32_t>& column_sums, const Target& c) const {
  const auto sum = [&](int64_t r, int64_t i) { return tile.sums[r * kernels::kPanelColumns + i]; };
  if (plain_ && c.layout.block == 0) {
    for (int64_t r = 0; r < tile.rows; ++r)
      std::memcpy(c.data + c.layout.place(tile.row + r, tile.column) * 4,
                  tile.sums + r * kernels::kPanelColumns, static_cast<size_t>(tile.columns) * 4);
    return;
  }
  const auto value = [&](int64_t r, int64_t i) {
    const auto n = static_cast<size_t>(tile.column + i);
    return corrected(sum(r, i), row_sums[static_cast<size_t>(tile.row + r)], column_sums[n], n);
  };
  const auto real = [&](int64_t r, int64_t i) {
    return static_cast<double>(value(r, i)) * at(factor_, static_cast<size_t>(tile.column + i));
  };
  switch (c.dtype) {
    case DType::kI32:
      return write<int32_t>(tile, c, [&](int64_t r, int64_t i) {
        return plain_ ? sum(r, i) : saturate<int32_t>(value(r, i));
      });
    case DType::kI16:
      return write<int16_t>(tile, c,
                            [&](int64_t r, int64_t i) { return saturate<int16_t>(value(r, i)); });
    case DType::kI8:
      return write<int8_t>(tile, c, [&](int64_t r, int64_t i) {
        return saturate_i8(scale_round(value(r, i), output_.scale, output_.shift) + c_zero_);
      });
    case DType::kF32:
      return write<float>(tile, c,
                          [&](int64_t r, int64_t i) { return static_cast<float>(real(r, i)); });
    case DType::kF16:
      return write<uint16_t>(tile, c,
                             [&](int64_t r, int64_t i) { return double_to_half(real(r, i)); });
    default:
      RK_ASSERT(false, "an integer product has no such C");
  }
}

void store_float(const kernels::MatrixTile<float>& tile, const std::vector<float>& scale,
                 const Target& c) {
  const auto value = [&](int64_t r, int64_t i) {
    return tile.sums[r * kernels::kPanelColumns + i] *
           at(scale, static_cast<size_t>(tile.column + i));
  };
  switch (c.dtype) {
    case DType::kF32:
      return write<float>(tile, c, value);
    case DType::kF16:
      return write<uint16_t>(tile, c,
                             [&](int64_t r, int64_t i) { return float_to_half(value(r, i)); });
    case DType::kBF16:
      return write<uint16_t>(tile, c,
                             [&](int64_t r, int64_t i) { return float_to_bfloat16(value(r, i)); });
    default:
      RK_ASSERT(false, "a float product has no such C");
  }
}

}  // namespace rk::runtime::matmul
