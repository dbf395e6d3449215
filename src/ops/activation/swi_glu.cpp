// SPDX-License-Identifier: Apache-2.0
// SwiGLU: the gate's Swish times the other branch, y = a * sigmoid(alpha * a) * b, with
// broadcasting.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status swi_glu_infer(InferCall& call) { return infer_broadcast(call); }

Status swi_glu_compute(const EvalCall& call) {
  const float alpha = call.node.f32("alpha");
  broadcast_binary<float, float, float>(call.input(0), call.input(1), call.output(0),
                                        [=](float a, float b) { return swish_of(a, alpha) * b; });
  return ok_status();
}

Status swi_glu_reference(const EvalCall& call) { return in_f32(call, swi_glu_compute); }

}  // namespace

OpDef swi_glu() {
  return {
      .name = "SwiGLU",
      .doc = "y = a * sigmoid(alpha * a) * b with broadcasting",
      .inputs = {{"a", floats()}, {"b", floats().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 1.0f, "factor inside the sigmoid"}},
      .infer = swi_glu_infer,
      .reference = swi_glu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
