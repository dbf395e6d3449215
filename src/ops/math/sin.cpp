// SPDX-License-Identifier: Apache-2.0
// Sin: the sine, x in radians. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sin_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::sin(x); });
}

}  // namespace

OpDef sin() {
  return {
      .name = "Sin",
      .doc = "y = sin(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = sin_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
