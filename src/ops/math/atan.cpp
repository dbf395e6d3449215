// SPDX-License-Identifier: Apache-2.0
// Atan: the inverse tangent. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status atan_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::atan(x); });
}

}  // namespace

OpDef atan() {
  return {
      .name = "Atan",
      .doc = "y = atan(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = atan_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
