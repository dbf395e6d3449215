// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along one axis, which is an input. exclusive leaves out the element itself;
// reverse runs from the end.
#include "ops/shared/cumulative.h"

namespace rk::ops {
namespace {

Status compute(const EvalCall& call) {
  return accumulate_along(call, 0, [](auto a, auto b) { return wrap_add(a, b); });
}

Status reference(const EvalCall& call) { return halves_as_f32(call, compute); }

}  // namespace

OpDef cum_sum() {
  return {
      .name = "CumSum",
      .doc = "y = running sum of x along an axis",
      .inputs = {{"x", numbers()}, {"axis", indices()}},
      .outputs = {{"y"}},
      .attrs = cumulative_attrs(),
      .infer = infer_cumulative,
      .reference = reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
