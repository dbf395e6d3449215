// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: y = saturate(round(x / scale) + zero_point), rounding halves to even. The
// output's dtype is the zero point's, or output_dtype's, or u8.
#include <cmath>

#include "ops/quantize_core.h"

namespace rk::ops {
namespace {

Result<DType> quantized_dtype(const InferCall& call) {
  DType dtype = DType::kU8;
  if (call.has_input(2)) dtype = call.input(2).dtype;
  if (const int64_t given = call.node.i64("output_dtype"); given != 0) {
    const auto named = dtype_from_onnx(given);
    if (!named || (call.has_input(2) && *named != dtype)) {
      return refuse("attribute 'output_dtype' is ", given,
                    ", expected a supported dtype that agrees with 'zero_point'");
    }
    dtype = *named;
  }
  if (dtype != DType::kU8 && dtype != DType::kI8 && dtype != DType::kU16 && dtype != DType::kI16) {
    return unsupported(
        str("output dtype ", rk::to_string(dtype), "; i8, u8, i16 and u16 are supported"));
  }
  return dtype;
}

Status infer(InferCall& call) {
  if (call.input(0).dtype != DType::kI32) RK_TRY(require_float(call, 0));
  RK_ASSIGN(const DType dtype, quantized_dtype(call));
  RK_TRY(check_scales(call, dtype));
  return set_output(call, 0, dtype, call.input(0).shape);
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
    // The quotient is rounded to float first, as every runtime does; a double would round some
    // halves differently.
    const float quotient = static_cast<float>(x.at_f64(i)) / scales[s];
    const double value = std::nearbyint(quotient) + static_cast<double>(zero_points[s]);
    store_f64(out.dtype(), to, value);  // saturates
    to += step;
  }
  return ok_status();
}

}  // namespace

OpDef quantize_linear() {
  return {
      .name = "QuantizeLinear",
      .doc = "y = saturate(round(x / scale) + zero_point)",
      .inputs = {{"x"}, {"scale"}, {"zero_point", ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{1},
                 "axis of per-axis or blocked scales; negative counts from the end"},
                {"block_size", int64_t{0}, "indices of the axis per scale; 0: not blocked"},
                {"output_dtype", int64_t{0},
                 "dtype where there is no zero_point, numbered as in ONNX; 0: u8"},
                {"saturate", int64_t{1}, "only for 8-bit floats, which are not supported"}},
      .infer = infer,
      .reference = reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
      .layout = LayoutRule::kAny,
  };
}

}  // namespace rk::ops
