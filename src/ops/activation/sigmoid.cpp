// SPDX-License-Identifier: Apache-2.0
// Sigmoid: y = 1 / (1 + exp(-x)). Elementwise, any rank.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sigmoid_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return sigmoid_of(x); });
}

}  // namespace

OpDef sigmoid() {
  return {
      .name = "Sigmoid",
      .doc = "y = 1 / (1 + exp(-x))",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = sigmoid_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFixed,
      .elements = Elements::kUnary,
      .fixed_range = {0.0f, 1.0f},
  };
}

}  // namespace rk::ops
