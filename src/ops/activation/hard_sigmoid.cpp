// SPDX-License-Identifier: Apache-2.0
// HardSigmoid: y = max(0, min(1, alpha * x + beta)). Elementwise. PyTorch's has alpha 1/6, the
// default here is ONNX's 0.2.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status hard_sigmoid_reference(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  const float beta = call.node.f32("beta");
  return map_f32(call.input(0), call.output(0),
                 [=](float x) { return hard_sigmoid_of(x, alpha, beta); });
}

}  // namespace

OpDef hard_sigmoid() {
  return {
      .name = "HardSigmoid",
      .doc = "y = max(0, min(1, alpha * x + beta))",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 0.2f, "slope"}, {"beta", 0.5f, "value at zero"}},
      .infer = infer_float_same_as_input,
      .reference = hard_sigmoid_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFixed,
      .elements = Elements::kUnary,
      .fixed_range = {0.0f, 1.0f},
  };
}

}  // namespace rk::ops
