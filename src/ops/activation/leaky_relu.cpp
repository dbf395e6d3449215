// SPDX-License-Identifier: Apache-2.0
// LeakyRelu: y = x where x >= 0, alpha * x elsewhere. Elementwise, any rank.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status leaky_relu_reference(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  return map_f32(call.input(0), call.output(0), [=](float x) { return x >= 0 ? x : alpha * x; });
}

}  // namespace

OpDef leaky_relu() {
  return {
      .name = "LeakyRelu",
      .doc = "y = x where x >= 0, alpha * x elsewhere",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 0.01f, "slope below zero"}},
      .infer = infer_float_same_as_input,
      .reference = leaky_relu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
      .homogeneous = true,
  };
}

}  // namespace rk::ops
