// SPDX-License-Identifier: Apache-2.0
// Floor: the largest integer not above x. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status floor_reference(const EvalCall& call) {
  return map_f32(call.input(0), call.output(0), [](float x) { return std::floor(x); });
}

}  // namespace

OpDef floor() {
  return {
      .name = "Floor",
      .doc = "y = largest integer not above x",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = floor_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
