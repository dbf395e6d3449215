// SPDX-License-Identifier: Apache-2.0
// CumProd: running products along one axis, which is an input. exclusive leaves out the element itself;
// reverse runs from the end.
#include "ops/shared/cumulative.h"

namespace rk::ops {
namespace {

Status cum_prod_compute(const EvalCall& call) {
  return accumulate_along(call, 1, [](auto a, auto b) { return wrap_mul(a, b); });
}

Status cum_prod_reference(const EvalCall& call) { return halves_as_f32(call, cum_prod_compute); }

}  // namespace

OpDef cum_prod() {
  return {
      .name = "CumProd",
      .doc = "y = running product of x along an axis",
      .inputs = {{"x", numbers()}, {"axis", indices()}},
      .outputs = {{"y"}},
      .attrs = cumulative_attrs(),
      .infer = infer_cumulative,
      .reference = cum_prod_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
