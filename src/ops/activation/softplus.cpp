// SPDX-License-Identifier: Apache-2.0
// Softplus: y = log(1 + exp(x)), without overflow for large x. Elementwise, any rank.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status softplus_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return softplus_of(x); });
}

}  // namespace

OpDef softplus() {
  return {
      .name = "Softplus",
      .doc = "y = log(1 + exp(x))",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = softplus_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
