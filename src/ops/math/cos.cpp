// SPDX-License-Identifier: Apache-2.0
// Cos: the cosine, x in radians. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status cos_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::cos(x); });
}

}  // namespace

OpDef cos() {
  return {
      .name = "Cos",
      .doc = "y = cos(x)",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = cos_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
