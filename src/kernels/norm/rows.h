// SPDX-License-Identifier: Apache-2.0
// What all variants agree on: which columns a unit of a softmax has, and how a row's totals become results. Private to
// kernels/norm; baseline code.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/norm/norm.h"

namespace rk::kernels {

struct SoftmaxColumns {
  int64_t first;  // element of the first of them
  int64_t count;
};
inline SoftmaxColumns softmax_columns(const SoftmaxArgs& args, int64_t unit) {
  const int64_t blocks = (args.inner + kSoftmaxColumns - 1) / kSoftmaxColumns;
  const int64_t column = unit % blocks * kSoftmaxColumns;
  const int64_t left = args.inner - column;
  return {unit / blocks * args.length * args.inner + column,
          left < kSoftmaxColumns ? left : kSoftmaxColumns};
}

inline float row_result(RowSum kind, double total, int64_t length) {
  switch (kind) {
    case RowSum::kMean:
      return static_cast<float>(total / static_cast<double>(length));
    case RowSum::kRootOfSquares:
      return static_cast<float>(std::sqrt(total));
    case RowSum::kSum:
    case RowSum::kSquares:
      break;
  }
  return static_cast<float>(total);
}

inline bool adds_squares(RowSum kind) {
  return kind == RowSum::kSquares || kind == RowSum::kRootOfSquares;
}

// 1 / sqrt(variance + epsilon) from the sum of squared differences.
inline double inverse_deviation(double squares, int64_t length, float epsilon) {
  return 1.0 / std::sqrt(squares / static_cast<double>(length) + static_cast<double>(epsilon));
}

inline void keep_statistics(const NormalizeArgs& args, int64_t row, double mean, double factor) {
  if (args.mean != nullptr) args.mean[row] = static_cast<float>(mean);
  if (args.inverse_deviation != nullptr) args.inverse_deviation[row] = static_cast<float>(factor);
}

}  // namespace rk::kernels
