// SPDX-License-Identifier: Apache-2.0
// Sum: the sum of all inputs, with broadcasting.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sum_compute(const EvalCall& call) {
  return fold_number(call, [](auto so_far, auto next) { return wrap_add(so_far, next); });
}

Status sum_reference(const EvalCall& call) { return halves_as_f32(call, sum_compute); }

}  // namespace

OpDef sum() {
  return {
      .name = "Sum",
      .doc = "y = sum of all inputs, with broadcasting",
      .inputs = {{"inputs", numbers().like(0), ArgDef::kVariadic}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = sum_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
