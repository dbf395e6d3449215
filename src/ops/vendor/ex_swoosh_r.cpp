// SPDX-License-Identifier: Apache-2.0
// exSwooshR: y = log(1 + exp(x - 1)) - 0.08 x - 0.313261687, under the vendor's name. Elementwise.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status ex_swoosh_r_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0),
                 [](float x) { return softplus_of(x - 1.0f) - 0.08f * x - 0.313261687f; });
}

}  // namespace

OpDef ex_swoosh_r() {
  return {
      .name = "exSwooshR",
      .doc = "y = log(1 + exp(x - 1)) - 0.08 * x - 0.313261687",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = ex_swoosh_r_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
