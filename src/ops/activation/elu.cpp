// SPDX-License-Identifier: Apache-2.0
// Elu: y = x where x >= 0, alpha * (exp(x) - 1) elsewhere. Elementwise, any rank.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status elu_reference(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  return map_f32(call.input(0), call.output(0), [=](float x) { return elu_of(x, alpha); });
}

}  // namespace

OpDef elu() {
  return {
      .name = "Elu",
      .doc = "y = x where x >= 0, alpha * (exp(x) - 1) elsewhere",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 1.0f, "the limit below zero is -alpha"}},
      .infer = infer_float_same_as_input,
      .reference = elu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
