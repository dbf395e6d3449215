// SPDX-License-Identifier: Apache-2.0
// ReduceSumSquare: the sum of squares.
#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_sum_square_compute(const EvalCall& call) {
  return reduce_numbers(call, 0, [](auto sum, auto x) { return wrap_add(sum, wrap_mul(x, x)); });
}

Status reduce_sum_square_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_sum_square_compute);
}

}  // namespace

OpDef reduce_sum_square() {
  return reduce_def("ReduceSumSquare", "y = sum of squares over the axes",
                    reduce_sum_square_reference);
}

}  // namespace rk::ops
