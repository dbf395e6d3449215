// SPDX-License-Identifier: Apache-2.0
// Acosh: the inverse hyperbolic cosine; NaN below 1. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status acosh_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::acosh(x); });
}

}  // namespace

OpDef acosh() {
  return {
      .name = "Acosh",
      .doc = "y = acosh(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = acosh_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
