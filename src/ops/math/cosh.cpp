// SPDX-License-Identifier: Apache-2.0
// Cosh: the hyperbolic cosine. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status cosh_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::cosh(x); });
}

}  // namespace

OpDef cosh() {
  return {
      .name = "Cosh",
      .doc = "y = cosh(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = cosh_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
