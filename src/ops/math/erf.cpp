// SPDX-License-Identifier: Apache-2.0
// Erf: the error function. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status erf_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::erf(x); });
}

}  // namespace

OpDef erf() {
  return {
      .name = "Erf",
      .doc = "y = error function of x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = erf_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
