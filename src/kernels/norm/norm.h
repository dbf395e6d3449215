// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums along an axis of plain float32 tensors. At most 1024 numbers are added in float32 at a
// time, in sixteen lanes whatever the CPU: the results are the same bits on every one, and depend on the row alone, never
// on how rows are shared out.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace rk::kernels {

// y = exp(x - max) / sum of exp(x - max) along the middle axis of [outer][length][inner].
struct SoftmaxArgs {
  const float* input = nullptr;
  float* output = nullptr;  // may be `input`
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};
// Places of `inner` that one unit takes.
inline constexpr int64_t kSoftmaxColumns = 16;
int64_t softmax_units(const SoftmaxArgs& args);
void softmax_f32(const SoftmaxArgs& args, IndexRange units);

// One part of rows whose softmax is made in parts, as attention does: scores become exp(score - largest), where `largest`
// is that of the parts so far. A row all of whose scores are -infinity becomes zeros, with a sum of 0.
struct SoftmaxPartArgs {
  float* scores = nullptr;  // [rows][length], in place
  int64_t length = 1;
  // Of each row. In: of the parts before; -infinity and 0 at the beginning.
  float* largest = nullptr;
  float* sum = nullptr;     // of the exponentials
  float* factor = nullptr;  // out: what was made of the parts before has to be multiplied by
};
void softmax_part_f32(const SoftmaxPartArgs& args, IndexRange rows);

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, with the statistics of each row of `length`. Element i of
// row r has the scale and bias numbered r % groups * (length / run) + i / run: a layer's normalization has one group
// and runs of 1, that of an instance a group per channel and runs of whole planes.
struct NormalizeArgs {
  const float* input = nullptr;
  float* output = nullptr;  // may be `input`
  int64_t length = 1;
  int64_t groups = 1;
  int64_t run = 1;  // divides `length`
  const float* scale = nullptr;
  const float* bias = nullptr;  // or null
  float epsilon = 0.0f;
  bool centered = true;                // false: the mean counts as 0, as RMSNormalization has it
  float* mean = nullptr;               // of each row, or null
  float* inverse_deviation = nullptr;  // of each row, or null
};
void normalize_rows_f32(const NormalizeArgs& args, IndexRange rows);

enum class RowSum { kSum, kMean, kSquares, kRootOfSquares };
struct RowSumArgs {
  const float* input = nullptr;
  float* output = nullptr;  // one per row
  int64_t length = 1;
  RowSum kind = RowSum::kSum;
};
void sum_rows_f32(const RowSumArgs& args, IndexRange rows);

}  // namespace rk::kernels
