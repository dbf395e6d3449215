// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: y = saturate(round(x / scale) + zero_point), rounding halves to even. The
// output's dtype is the zero point's, or output_dtype's, or u8. For floats of 8 and 4 bits rounding
// is the conversion itself.
#include <cmath>

#include "ops/shared/quantize_core.h"

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
  if ((is_integer(dtype) && bit_width(dtype) <= 16) || is_small_float(dtype)) return dtype;
  return unsupported(str("output dtype ", rk::to_string(dtype),
                         "; integers of 2 to 16 bits and floats of 4 and 8 bits are supported"));
}

Status quantize_linear_infer(InferCall& call) {
  if (call.input(0).dtype != DType::kI32) RK_TRY(require_float(call, 0));
  RK_ASSIGN(const DType dtype, quantized_dtype(call));
  RK_TRY(check_scales(call, dtype));
  return set_output(call, 0, dtype, call.input(0).shape);
}

Status quantize_linear_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<float> scales = call.input(1).to_f32();
  const std::vector<float> zero_points =
      call.has_input(2) ? call.input(2).to_f32() : std::vector<float>(scales.size(), 0.0f);
  const ScaleIndex index(call);
  Tensor& out = call.output(0);
  const size_t step = byte_size(out.dtype());
  const bool integer = is_integer(out.dtype());
  const auto store = call.node.i64("saturate") != 0 ? store_f64 : store_unsaturated;
  uint8_t* to = out.mutable_data<uint8_t>();
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto s = static_cast<size_t>(index(i));
    // The quotient is rounded to float first, as every runtime does; a double would round some
    // halves differently.
    const float quotient = static_cast<float>(x.at_f64(i)) / scales[s];
    const double steps = integer ? std::nearbyint(quotient) : quotient;
    store(out.dtype(), to, steps + static_cast<double>(zero_points[s]));
    to += step;
  }
  return ok_status();
}

}  // namespace

OpDef quantize_linear() {
  return {
      .name = "QuantizeLinear",
      .doc = "y = saturate(round(x / scale) + zero_point)",
      .inputs = {{"x", ArgRule{kFloatTypes | DTypeSet{DType::kI32}, "a float dtype"}},
                 {"scale", ArgRule{kFloatTypes | kSmallFloatTypes, "a float dtype"}},
                 {"zero_point",
                  ArgRule{kIntegerTypes | kSmallFloatTypes,
                          "an integer or a float of at most 8 bits"},
                  ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{1},
                 "axis of per-axis or blocked scales; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"block_size", int64_t{0}, "indices of the axis per scale; 0: not blocked"},
                {"output_dtype", int64_t{0},
                 "dtype where there is no zero_point, numbered as in ONNX; 0: u8"},
                {"precision", int64_t{0}, "dtype of the division; it is done in f32 in any case"},
                {"rounding", int64_t{0},
                 "1: what computes the value rounds in 32-bit fixed point first, as TFLite does"},
                {"saturate", int64_t{1},
                 "8-bit floats: 0 lets what is too large become infinity or NaN"}},
      .infer = quantize_linear_infer,
      .reference = quantize_linear_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
