// SPDX-License-Identifier: Apache-2.0
// Softmax, normalisation and sums in double, one element at a time.
#include "kernels/norm/rows.h"

namespace rk::kernels {

void softmax_f32__generic(const SoftmaxArgs& args, IndexRange units) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const SoftmaxColumns columns = softmax_columns(args, unit);
    for (int64_t c = columns.first; c < columns.first + columns.count; ++c) {
      const float* const x = args.input + c;
      float* const y = args.output + c;
      double most = x[0];
      // Not std::fmax: GCC 12 for ARM fails on its reduction. A NaN reaches the results through the sum.
      for (int64_t k = 1; k < args.length; ++k) {
        const double next = x[k * args.inner];
        most = most < next ? next : most;
      }
      double sum = 0;
      for (int64_t k = 0; k < args.length; ++k) sum += std::exp(x[k * args.inner] - most);
      for (int64_t k = 0; k < args.length; ++k)
        y[k * args.inner] = static_cast<float>(std::exp(x[k * args.inner] - most) / sum);
    }
  }
}

void normalize_rows_f32__generic(const NormalizeArgs& args, IndexRange rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.input + row * args.length;
    float* const y = args.output + row * args.length;
    double mean = 0;
    for (int64_t i = 0; args.centred && i < args.length; ++i) mean += x[i];
    mean /= static_cast<double>(args.length);
    double squares = 0;
    for (int64_t i = 0; i < args.length; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double factor = inverse_deviation(squares, args.length, args.epsilon);
    keep_statistics(args, row, mean, factor);
    const int64_t first = row % args.groups * (args.length / args.run);
    for (int64_t i = 0; i < args.length; ++i) {
      const int64_t p = first + i / args.run;
      const double bias = args.bias != nullptr ? args.bias[p] : 0.0f;
      y[i] = static_cast<float>((x[i] - mean) * factor * args.scale[p] + bias);
    }
  }
}

void sum_rows_f32__generic(const RowSumArgs& args, IndexRange rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.input + row * args.length;
    double total = 0;
    for (int64_t i = 0; i < args.length; ++i)
      total += adds_squares(args.kind) ? static_cast<double>(x[i]) * x[i] : x[i];
    args.output[row] = row_result(args.kind, total, args.length);
  }
}

}  // namespace rk::kernels
