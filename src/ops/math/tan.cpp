// SPDX-License-Identifier: Apache-2.0
// Tan: the tangent, x in radians. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status tan_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::tan(x); });
}

}  // namespace

OpDef tan() {
  return {
      .name = "Tan",
      .doc = "y = tan(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = tan_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
