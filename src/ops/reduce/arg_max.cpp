// SPDX-License-Identifier: Apache-2.0
// ArgMax: the index of the largest value along one axis, the first of equals unless
// select_last_index says otherwise.
#include "ops/shared/arg_select.h"

namespace rk::ops {
namespace {

Status arg_max_compute(const EvalCall& call) {
  return select_indices(call, [](auto a, auto b) { return a > b; });
}

Status arg_max_reference(const EvalCall& call) { return halves_as_f32(call, arg_max_compute); }

}  // namespace

OpDef arg_max() {
  return arg_select_def("ArgMax", "y = index of the largest value along an axis",
                        arg_max_reference);
}

}  // namespace rk::ops
