// SPDX-License-Identifier: Apache-2.0
// Softmax, normalisation and sums with AVX2 through lane_norm.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/norm/rows.h"

namespace rk::kernels {

decltype(softmax_f32) softmax_f32__avx2;
decltype(normalize_rows_f32) normalize_rows_f32__avx2;
decltype(sum_rows_f32) sum_rows_f32__avx2;

}  // namespace rk::kernels

#include "kernels/norm/lane_norm.h"

RK_ISA_BEGIN

namespace rk::kernels {

void softmax_f32__avx2(const SoftmaxArgs& args, IndexRange units) {
  softmax_lanes<WideLanes<Avx2F32>>(args, units);
}

void normalize_rows_f32__avx2(const NormalizeArgs& args, IndexRange rows) {
  normalize_rows_lanes<WideLanes<Avx2F32>>(args, rows);
}

void sum_rows_f32__avx2(const RowSumArgs& args, IndexRange rows) {
  sum_rows_lanes<WideLanes<Avx2F32>>(args, rows);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
