// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along one axis, which is an input. exclusive leaves out the element itself;
// reverse runs from the end.
#include "ops/shared/cumulative.h"

namespace rk::ops {
namespace {

Status cum_sum_compute(const EvalCall& call) {
  return accumulate_along(call, 0, [](auto a, auto b) { return wrap_add(a, b); });
}

Status cum_sum_reference(const EvalCall& call) { return halves_as_f32(call, cum_sum_compute); }

}  // namespace

OpDef cum_sum() {
  return {
      .name = "CumSum",
      .doc = "y = running sum of x along an axis",
      .inputs = {{"x", numbers()}, {"axis", indices()}},
      .outputs = {{"y"}},
      .attrs = cumulative_attrs(),
      .infer = infer_cumulative,
      .reference = cum_sum_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
