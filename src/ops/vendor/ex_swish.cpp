// SPDX-License-Identifier: Apache-2.0
// exSwish: y = x * sigmoid(beta * x), SiLU for beta 1. The vendor's name; ONNX has no such operator
// before opset 24.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status ex_swish_reference(const EvalCall& call) {
  const float beta = call.node.f32("beta");
  return map_f32(call.input(0), call.output(0), [=](float x) { return swish_of(x, beta); });
}

}  // namespace

OpDef ex_swish() {
  return {
      .name = "exSwish",
      .doc = "y = x * sigmoid(beta * x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"beta", 1.0f, "slope inside the sigmoid"}},
      .infer = infer_float_same_as_input,
      .reference = ex_swish_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
