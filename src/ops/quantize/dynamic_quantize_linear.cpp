// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear: u8 with the scale of the data at hand. The range always holds zero; a
// tensor of zeros has scale 0, and then its integers are the zero point.
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status dynamic_quantize_linear_infer(InferCall& call) {
  RK_TRY(set_output(call, 0, DType::kU8, call.input(0).shape));
  RK_TRY(set_output(call, 1, call.input(0).dtype, Shape{}));
  return set_output(call, 2, DType::kU8, Shape{});
}

uint8_t saturated(float value) { return static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f)); }

Status dynamic_quantize_linear_compute(const EvalCall& call) {
  const std::span<const float> x = call.input(0).span<float>();
  float least = 0, most = 0;
  for (const float value : x) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const float scale = (most - least) / 255;
  const uint8_t zero_point = scale == 0 ? 0 : saturated(std::nearbyint(-least / scale));
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (size_t i = 0; i < x.size(); ++i) {
    const float steps = scale == 0 || std::isnan(x[i]) ? 0 : std::nearbyint(x[i] / scale);
    y[i] = saturated(steps + zero_point);
  }
  if (call.outputs.size() > 1) *call.output(1).mutable_data<float>() = scale;
  if (call.outputs.size() > 2) *call.output(2).mutable_data<uint8_t>() = zero_point;
  return ok_status();
}

Status dynamic_quantize_linear_reference(const EvalCall& call) {
  return in_f32(call, dynamic_quantize_linear_compute);
}

}  // namespace

OpDef dynamic_quantize_linear() {
  return {
      .name = "DynamicQuantizeLinear",
      .doc = "u8 integers of x with scale and zero point of its own range",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}, {"y_scale", ArgDef::kOptional}, {"y_zero_point", ArgDef::kOptional}},
      .infer = dynamic_quantize_linear_infer,
      .reference = dynamic_quantize_linear_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
