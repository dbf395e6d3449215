// SPDX-License-Identifier: Apache-2.0
// ReduceMean: the mean. Integers truncate; nothing has the mean NaN.
#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_mean_compute(const EvalCall& call) {
  return reduce_reals(
      call, [](double sum, double x) { return sum + x; },
      [](double sum, int64_t count) { return sum / static_cast<double>(count); });
}

Status reduce_mean_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_mean_compute);
}

}  // namespace

OpDef reduce_mean() {
  return reduce_def("ReduceMean", "y = mean over the axes", reduce_mean_reference);
}

}  // namespace rk::ops
