// SPDX-License-Identifier: Apache-2.0
// exSwooshL: y = log(1 + exp(x - 4)) - 0.08 x - 0.035, under the vendor's name. Elementwise.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status ex_swoosh_l_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0),
                 [](float x) { return softplus_of(x - 4.0f) - 0.08f * x - 0.035f; });
}

}  // namespace

OpDef ex_swoosh_l() {
  return {
      .name = "exSwooshL",
      .doc = "y = log(1 + exp(x - 4)) - 0.08 * x - 0.035",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = ex_swoosh_l_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
