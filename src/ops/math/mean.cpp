// SPDX-License-Identifier: Apache-2.0
// Mean: the mean of all inputs, with broadcasting.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status mean_infer(InferCall& call) {
  RK_TRY(infer_broadcast(call));
  return require_float(call, 0);
}

Status mean_compute(const EvalCall& call) {
  RK_TRY(fold_number(call, [](auto so_far, auto next) { return wrap_add(so_far, next); }));
  const auto count = static_cast<float>(call.inputs.size());
  return map_f32(call.output(0), call.output(0), [=](float x) { return x / count; });
}

Status mean_reference(const EvalCall& call) { return halves_as_f32(call, mean_compute); }

}  // namespace

OpDef mean() {
  return {
      .name = "Mean",
      .doc = "y = mean of all inputs, with broadcasting",
      .inputs = {{"inputs", floats().like(0), ArgDef::kVariadic}},
      .outputs = {{"y"}},
      .infer = mean_infer,
      .reference = mean_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
