// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear: y = (x - zero_point) * scale. The output has the scale's dtype.
#include "ops/quantize_core.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) {
  if (!is_integer(call.input(0).dtype)) {
    return refuse("input 0 ('x') has dtype ", rk::to_string(call.input(0).dtype),
                  ", expected an integer dtype");
  }
  RK_TRY(check_scales(call, call.input(0).dtype));
  return set_output(call, 0, call.input(1).dtype, call.input(0).shape);
}

Status reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<float> scales = call.input(1).to_f32();
  const std::vector<int64_t> zero_points =
      call.has_input(2) ? call.input(2).to_i64() : std::vector<int64_t>(scales.size(), 0);
  const ScaleIndex index(call);
  Tensor& out = call.output(0);
  const size_t step = byte_size(out.dtype());
  uint8_t* to = out.mutable_data<uint8_t>();
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto s = static_cast<size_t>(index(i));
    const auto centred = static_cast<float>(wrap_sub(x.at_i64(i), zero_points[s]));
    store_f64(out.dtype(), to, centred * scales[s]);
    to += step;
  }
  return ok_status();
}

}  // namespace

OpDef dequantize_linear() {
  return {
      .name = "DequantizeLinear",
      .doc = "y = (x - zero_point) * scale",
      .inputs = {{"x"}, {"scale"}, {"zero_point", ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{1},
                 "axis of per-axis or blocked scales; negative counts from the end"},
                {"block_size", int64_t{0}, "indices of the axis per scale; 0: not blocked"}},
      .infer = infer,
      .reference = reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
      .layout = LayoutRule::kAny,
  };
}

}  // namespace rk::ops
