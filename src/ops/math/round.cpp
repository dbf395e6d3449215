// SPDX-License-Identifier: Apache-2.0
// Round: to the nearest integer, halves to even (not away from zero). Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status round_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  if (x.dtype() == DType::kF64) {
    double* const y = call.output(0).mutable_data<double>();
    for (int64_t i = 0; i < x.elements(); ++i) y[i] = std::nearbyint(x.data<double>()[i]);
    return ok_status();
  }
  return map_f32(call.input(0), call.output(0), [](float x) { return std::nearbyint(x); });
}

}  // namespace

OpDef round() {
  return {
      .name = "Round",
      .doc = "y = nearest integer, halves to even",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = infer_float_same_as_input,
      .reference = round_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
