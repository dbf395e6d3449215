// SPDX-License-Identifier: Apache-2.0
// Asinh: the inverse hyperbolic sine. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status asinh_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::asinh(x); });
}

}  // namespace

OpDef asinh() {
  return {
      .name = "Asinh",
      .doc = "y = asinh(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = asinh_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
