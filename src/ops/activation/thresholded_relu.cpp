// SPDX-License-Identifier: Apache-2.0
// ThresholdedRelu: y = x where x > alpha, 0 elsewhere. Elementwise, any rank.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status thresholded_relu_reference(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  return map_f32(call.input(0), call.output(0), [=](float x) { return x > alpha ? x : 0.0f; });
}

}  // namespace

OpDef thresholded_relu() {
  return {
      .name = "ThresholdedRelu",
      .doc = "y = x where x > alpha, 0 elsewhere",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 1.0f, "values up to this become 0"}},
      .infer = infer_float_same_as_input,
      .reference = thresholded_relu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
