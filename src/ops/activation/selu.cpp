// SPDX-License-Identifier: Apache-2.0
// Selu: gamma * x above zero, gamma * alpha * (exp(x) - 1) below. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status selu_reference(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  const float gamma = call.node.f32("gamma");
  return map_f32(call.input(0), call.output(0),
                 [=](float x) { return x > 0 ? gamma * x : gamma * alpha * std::expm1(x); });
}

}  // namespace

OpDef selu() {
  return {
      .name = "Selu",
      .doc = "y = gamma * x above zero, gamma * alpha * (exp(x) - 1) below",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 1.67326319f, "the limit below zero is -gamma * alpha"},
                {"gamma", 1.05070102f, "factor of everything"}},
      .infer = infer_float_same_as_input,
      .reference = selu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
