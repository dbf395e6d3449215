// SPDX-License-Identifier: Apache-2.0
// ReduceSum: the sum. Nothing sums to 0.
#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_sum_compute(const EvalCall& call) {
  return reduce_numbers(call, 0, [](auto sum, auto x) { return wrap_add(sum, x); });
}

Status reduce_sum_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_sum_compute);
}

}  // namespace

OpDef reduce_sum() {
  return reduce_def("ReduceSum", "y = sum over the axes", reduce_sum_reference);
}

}  // namespace rk::ops
