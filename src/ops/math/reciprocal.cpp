// SPDX-License-Identifier: Apache-2.0
// Reciprocal: y = 1 / x; zero gives infinity. Elementwise, any rank.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status reciprocal_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return 1.0f / x; });
}

}  // namespace

OpDef reciprocal() {
  return {
      .name = "Reciprocal",
      .doc = "y = 1 / x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = reciprocal_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
