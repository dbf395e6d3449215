// SPDX-License-Identifier: Apache-2.0
// Exp: y = e^x. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status exp_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::exp(x); });
}

}  // namespace

OpDef exp() {
  return {
      .name = "Exp",
      .doc = "y = e^x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = exp_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
