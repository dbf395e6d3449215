// SPDX-License-Identifier: Apache-2.0
// Sqrt: the square root; negative x gives NaN. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sqrt_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::sqrt(x); });
}

}  // namespace

OpDef sqrt() {
  return {
      .name = "Sqrt",
      .doc = "y = square root of x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = sqrt_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
