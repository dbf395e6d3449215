// SPDX-License-Identifier: Apache-2.0
// CumProd: running products along one axis, which is an input. exclusive leaves out the element itself;
// reverse runs from the end.
#include "ops/shared/cumulative.h"

namespace rk::ops {
namespace {

Status compute(const EvalCall& call) {
  return accumulate_along(call, 1, [](auto a, auto b) { return wrap_mul(a, b); });
}

Status reference(const EvalCall& call) { return halves_as_f32(call, compute); }

}  // namespace

OpDef cum_prod() {
  return {
      .name = "CumProd",
      .doc = "y = running product of x along an axis",
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
