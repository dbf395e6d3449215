// SPDX-License-Identifier: Apache-2.0
// ReduceLogSum: the logarithm of the sum.
#include <cmath>

#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_log_sum_compute(const EvalCall& call) {
  return reduce_reals(
      call, [](double sum, double x) { return sum + x; },
      [](double sum, int64_t) { return std::log(sum); });
}

Status reduce_log_sum_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_log_sum_compute);
}

}  // namespace

OpDef reduce_log_sum() {
  return reduce_def("ReduceLogSum", "y = logarithm of the sum over the axes",
                    reduce_log_sum_reference);
}

}  // namespace rk::ops
