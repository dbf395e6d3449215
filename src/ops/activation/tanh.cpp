// SPDX-License-Identifier: Apache-2.0
// Tanh: the hyperbolic tangent. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status tanh_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::tanh(x); });
}

}  // namespace

OpDef tanh() {
  return {
      .name = "Tanh",
      .doc = "y = tanh(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = tanh_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFixed,
      .elements = Elements::kUnary,
      .fixed_range = {-1.0f, 1.0f},
  };
}

}  // namespace rk::ops
