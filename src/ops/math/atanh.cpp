// SPDX-License-Identifier: Apache-2.0
// Atanh: the inverse hyperbolic tangent; NaN outside -1..1. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status atanh_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::atanh(x); });
}

}  // namespace

OpDef atanh() {
  return {
      .name = "Atanh",
      .doc = "y = atanh(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = atanh_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
