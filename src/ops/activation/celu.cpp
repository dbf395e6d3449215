// SPDX-License-Identifier: Apache-2.0
// Celu: max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status celu_infer(InferCall& call) {
  if (call.node.f32("alpha") == 0) return refuse("attribute 'alpha' is 0, expected another number");
  return infer_float_same_as_input(call);
}

Status celu_reference(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  return map_f32(call.input(0), call.output(0),
                 [=](float x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
}

}  // namespace

OpDef celu() {
  return {
      .name = "Celu",
      .doc = "y = x above zero, alpha * (exp(x / alpha) - 1) below",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 1.0f, "the limit below zero is -alpha; not 0"}},
      .infer = celu_infer,
      .reference = celu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
