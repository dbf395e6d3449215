// SPDX-License-Identifier: Apache-2.0
// Units and dispatch of the normalizing family.
#include "kernels/norm/norm.h"

#include "base/checked_math.h"
#include "kernels/dispatch.h"

namespace rk::kernels {

int64_t softmax_units(const SoftmaxArgs& args) {
  return args.outer * ceil_div(args.inner, kSoftmaxColumns);
}

void softmax_f32(const SoftmaxArgs& args, IndexRange units) {
  RK_DISPATCH(softmax_f32, args, units);
}

void softmax_part_f32(const SoftmaxPartArgs& args, IndexRange rows) {
  RK_DISPATCH(softmax_part_f32, args, rows);
}

void normalize_rows_f32(const NormalizeArgs& args, IndexRange rows) {
  RK_DISPATCH(normalize_rows_f32, args, rows);
}

void sum_rows_f32(const RowSumArgs& args, IndexRange rows) {
  RK_DISPATCH(sum_rows_f32, args, rows);
}

}  // namespace rk::kernels
