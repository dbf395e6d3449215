// SPDX-License-Identifier: Apache-2.0
// exMish: y = x * tanh(softplus(x)), under the vendor's name. Mish is ONNX's spelling.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status ex_mish_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return mish_of(x); });
}

}  // namespace

OpDef ex_mish() {
  return {
      .name = "exMish",
      .doc = "y = x * tanh(softplus(x))",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = ex_mish_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
