// SPDX-License-Identifier: Apache-2.0
// ReduceL1: the sum of magnitudes.
#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_l1_compute(const EvalCall& call) {
  return reduce_numbers(
      call, 0, [](auto sum, auto x) { return x < 0 ? wrap_sub(sum, x) : wrap_add(sum, x); });
}

Status reduce_l1_reference(const EvalCall& call) { return halves_as_f32(call, reduce_l1_compute); }

}  // namespace

OpDef reduce_l1() {
  return reduce_def("ReduceL1", "y = sum of magnitudes over the axes", reduce_l1_reference);
}

}  // namespace rk::ops
