// SPDX-License-Identifier: Apache-2.0
// ReduceL2: the Euclidean norm.
#include <cmath>

#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_l2_compute(const EvalCall& call) {
  return reduce_reals(
      call, [](double sum, double x) { return sum + x * x; },
      [](double sum, int64_t) { return std::sqrt(sum); });
}

Status reduce_l2_reference(const EvalCall& call) { return halves_as_f32(call, reduce_l2_compute); }

}  // namespace

OpDef reduce_l2() {
  return reduce_def("ReduceL2", "y = root of the sum of squares over the axes",
                    reduce_l2_reference);
}

}  // namespace rk::ops
