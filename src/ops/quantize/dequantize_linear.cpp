// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear: y = (x - zero_point) * scale. The output has the scale's dtype, or
// output_dtype.
#include "ops/shared/quantize_core.h"

namespace rk::ops {
namespace {

Status dequantize_linear_infer(InferCall& call) {
  const DType quantized = call.input(0).dtype;
  RK_TRY(check_scales(call, quantized));
  DType dtype = is_small_float(call.input(1).dtype) ? DType::kF32 : call.input(1).dtype;
  if (const int64_t given = call.node.i64("output_dtype"); given != 0) {
    const auto named = dtype_from_onnx(given);
    if (!named || !is_float(*named)) {
      return refuse("attribute 'output_dtype' is ", given, ", expected a float dtype");
    }
    dtype = *named;
  }
  return set_output(call, 0, dtype, call.input(0).shape);
}

Status dequantize_linear_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<float> scales = call.input(1).to_f32();
  const std::vector<int64_t> zero_points =
      call.has_input(2) ? call.input(2).to_i64() : std::vector<int64_t>(scales.size(), 0);
  const ScaleIndex index(call);
  Tensor& out = call.output(0);
  const size_t step = byte_size(out.dtype());
  uint8_t* to = out.mutable_data<uint8_t>();
  const bool integer = is_integer(x.dtype());
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto s = static_cast<size_t>(index(i));
    // Small floats have a zero point of zero.
    const float centered = integer ? static_cast<float>(wrap_sub(x.at_i64(i), zero_points[s]))
                                   : static_cast<float>(x.at_f64(i));
    store_f64(out.dtype(), to, centered * scales[s]);
    to += step;
  }
  return ok_status();
}

}  // namespace

OpDef dequantize_linear() {
  return {
      .name = "DequantizeLinear",
      .doc = "y = (x - zero_point) * scale",
      .inputs = {{"x", ArgRule{kIntegerTypes | kSmallFloatTypes,
                               "an integer or a float of at most 8 bits"}},
                 {"scale", ArgRule{kFloatTypes | kSmallFloatTypes, "a float dtype"}},
                 {"zero_point",
                  ArgRule{kIntegerTypes | kSmallFloatTypes,
                          "an integer or a float of at most 8 bits"}
                      .like(0),
                  ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{1},
                 "axis of per-axis or blocked scales; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"block_size", int64_t{0}, "indices of the axis per scale; 0: not blocked"},
                {"output_dtype", int64_t{0}, "numbered as in ONNX; 0: the scale's dtype"}},
      .infer = dequantize_linear_infer,
      .reference = dequantize_linear_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
