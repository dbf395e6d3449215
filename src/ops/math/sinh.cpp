// SPDX-License-Identifier: Apache-2.0
// Sinh: the hyperbolic sine. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sinh_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::sinh(x); });
}

}  // namespace

OpDef sinh() {
  return {
      .name = "Sinh",
      .doc = "y = sinh(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = sinh_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
