// SPDX-License-Identifier: Apache-2.0
// HardSwish: y = x * max(0, min(1, x / 6 + 0.5)). Elementwise, any rank.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status hard_swish_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return hard_swish_of(x); });
}

}  // namespace

OpDef hard_swish() {
  return {
      .name = "HardSwish",
      .doc = "y = x * max(0, min(1, x / 6 + 0.5))",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = hard_swish_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
