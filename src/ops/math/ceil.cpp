// SPDX-License-Identifier: Apache-2.0
// Ceil: the smallest integer not below x. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status ceil_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::ceil(x); });
}

}  // namespace

OpDef ceil() {
  return {
      .name = "Ceil",
      .doc = "y = smallest integer not below x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = ceil_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
