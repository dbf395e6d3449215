// SPDX-License-Identifier: Apache-2.0
// Mish: y = x * tanh(softplus(x)). Elementwise, any rank.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status mish_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return mish_of(x); });
}

}  // namespace

OpDef mish() {
  return {
      .name = "Mish",
      .doc = "y = x * tanh(softplus(x))",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = mish_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
