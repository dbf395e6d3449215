// SPDX-License-Identifier: Apache-2.0
// ArgMin: the index of the smallest value along one axis, the first of equals unless
// select_last_index says otherwise.
#include "ops/shared/arg_select.h"

namespace rk::ops {
namespace {

Status arg_min_compute(const EvalCall& call) {
  return select_indices(call, [](auto a, auto b) { return a < b; });
}

Status arg_min_reference(const EvalCall& call) { return halves_as_f32(call, arg_min_compute); }

}  // namespace

OpDef arg_min() {
  return arg_select_def("ArgMin", "y = index of the smallest value along an axis",
                        arg_min_reference);
}

}  // namespace rk::ops
