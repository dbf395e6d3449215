// SPDX-License-Identifier: Apache-2.0
// Gelu: y = x * normal distribution function of x, exact or by the tanh approximation. Elementwise.
#include "ops/activation/gelu.h"

#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status gelu_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "approximate", {"none", "tanh"}));
  return infer_float_same_as_input(call);
}

Status gelu_reference(const EvalCall& call) {
  if (call.node.text("approximate") == "tanh") {
    return map_f32(call.input(0), call.output(0), gelu_tanh_of);
  }
  return map_f32(call.input(0), call.output(0), gelu_of);
}

}  // namespace

OpDef gelu_def(std::string_view name) {
  return {
      .name = name,
      .doc = "y = 0.5 * x * (1 + erf(x / sqrt 2)), or its tanh approximation",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"approximate", "none", "'none' uses erf, 'tanh' the approximation"}},
      .infer = gelu_infer,
      .reference = gelu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

OpDef gelu() { return gelu_def("Gelu"); }

}  // namespace rk::ops
