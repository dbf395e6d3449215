// SPDX-License-Identifier: Apache-2.0
// exDataConvert (ours, the vendor's name): marks where a value changes between quantized and float
// form. The float value is the same on both sides, so the reference is the identity, or a rounding
// to the other float dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status ex_data_convert_infer(InferCall& call) {
  DType dtype = call.input(0).dtype;
  if (const int64_t to = call.node.i64("to"); to != 0) {
    const auto named = dtype_from_onnx(to);
    if (!named)
      return refuse("attribute 'to' is ", to, ", expected a supported dtype, or 0 to keep it");
    dtype = *named;
  }
  return set_output(call, 0, dtype, call.input(0).shape);
}

Status ex_data_convert_reference(const EvalCall& call) {
  copy_bytes(call.input(0).cast(call.output(0).dtype()), call.output(0));
  return ok_status();
}

}  // namespace

OpDef ex_data_convert() {
  return {
      .name = "exDataConvert",
      .doc = "y = x in another form (quantized, f16, f32)",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"to", int64_t{0}, "dtype of y, numbered as in ONNX; 0 keeps x's"}},
      .infer = ex_data_convert_infer,
      .reference = ex_data_convert_reference,
      .cost = no_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
