// SPDX-License-Identifier: Apache-2.0
// IsNaN: x is not a number, as a bool tensor. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status is_nan_infer(InferCall& call) {
  return set_output(call, 0, DType::kBool, call.input(0).shape);
}

Status is_nan_reference(const EvalCall& call) {
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (int64_t i = 0; i < call.input(0).elements(); ++i) {
    const double x = call.input(0).at_f64(i);
    y[i] = std::isnan(x);
  }
  return ok_status();
}

}  // namespace

OpDef is_nan() {
  return {
      .name = "IsNaN",
      .doc = "y = x is not a number",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = is_nan_infer,
      .reference = is_nan_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
