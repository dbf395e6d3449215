// SPDX-License-Identifier: Apache-2.0
// Softmax, normalisation and sums on every 64-bit ARM through lane_norm.h.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"
#include "kernels/norm/rows.h"

namespace rk::kernels {

decltype(softmax_f32) softmax_f32__neon;
decltype(normalize_rows_f32) normalize_rows_f32__neon;
decltype(sum_rows_f32) sum_rows_f32__neon;

}  // namespace rk::kernels

#include "kernels/norm/lane_norm.h"

RK_ISA_BEGIN

namespace rk::kernels {

void softmax_f32__neon(const SoftmaxArgs& args, IndexRange units) {
  softmax_lanes<WideLanes<NeonF32>>(args, units);
}

void normalize_rows_f32__neon(const NormalizeArgs& args, IndexRange rows) {
  normalize_rows_lanes<WideLanes<NeonF32>>(args, rows);
}

void sum_rows_f32__neon(const RowSumArgs& args, IndexRange rows) {
  sum_rows_lanes<WideLanes<NeonF32>>(args, rows);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
