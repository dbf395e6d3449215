// SPDX-License-Identifier: Apache-2.0
// Acos: the inverse cosine; NaN outside -1..1. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status acos_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::acos(x); });
}

}  // namespace

OpDef acos() {
  return {
      .name = "Acos",
      .doc = "y = acos(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = acos_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
