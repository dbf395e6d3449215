// SPDX-License-Identifier: Apache-2.0
// Log: the natural logarithm; negative x gives NaN. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status log_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::log(x); });
}

}  // namespace

OpDef log() {
  return {
      .name = "Log",
      .doc = "y = natural logarithm of x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = log_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
