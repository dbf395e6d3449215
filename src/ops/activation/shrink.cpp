// SPDX-License-Identifier: Apache-2.0
// Shrink: x + bias below -lambd, x - bias above lambd, 0 between. Elementwise, any rank.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status shrink_reference(const EvalCall& call) {
  const float lambd = call.node.f32("lambd");
  const float bias = call.node.f32("bias");
  return map_f32(call.input(0), call.output(0), [=](float x) {
    return x < -lambd ? x + bias : x > lambd ? x - bias : 0.0f;
  });
}

}  // namespace

OpDef shrink() {
  return {
      .name = "Shrink",
      .doc = "y = x + bias below -lambd, x - bias above lambd, 0 between",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"bias", 0.0f, "how far values move towards zero"},
                {"lambd", 0.5f, "values up to this distance become 0"}},
      .infer = infer_float_same_as_input,
      .reference = shrink_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
