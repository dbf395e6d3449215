// SPDX-License-Identifier: Apache-2.0
// Softsign: y = x / (1 + |x|). Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status softsign_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return x / (1.0f + std::fabs(x)); });
}

}  // namespace

OpDef softsign() {
  return {
      .name = "Softsign",
      .doc = "y = x / (1 + |x|)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = softsign_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFixed,
      .elements = Elements::kUnary,
      .fixed_range = {-1.0f, 1.0f},
  };
}

}  // namespace rk::ops
