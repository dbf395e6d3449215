// SPDX-License-Identifier: Apache-2.0
// IsInf: x is infinite, as a bool tensor. Elementwise, any rank.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status is_inf_infer(InferCall& call) {
  return set_output(call, 0, DType::kBool, call.input(0).shape);
}

Status is_inf_reference(const EvalCall& call) {
  const bool below = call.node.i64("detect_negative") != 0;
  const bool above = call.node.i64("detect_positive") != 0;
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (int64_t i = 0; i < call.input(0).elements(); ++i) {
    const double x = call.input(0).at_f64(i);
    y[i] = std::isinf(x) && (x < 0 ? below : above);
  }
  return ok_status();
}

}  // namespace

OpDef is_inf() {
  return {
      .name = "IsInf",
      .doc = "y = x is infinite",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"detect_negative", int64_t{1}, "0: minus infinity does not count"},
                {"detect_positive", int64_t{1}, "0: plus infinity does not count"}},
      .infer = is_inf_infer,
      .reference = is_inf_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
