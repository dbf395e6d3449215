// SPDX-License-Identifier: Apache-2.0
// Integer operators -> DequantizeLinear, the float operator, QuantizeLinear. That is how newer exporters write
// quantized models, so the rest of the converter sees one form; scales and integer weights are kept as they are.
#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

std::string label(const NodeDraft& draft) {
  return str("node '", draft.name, "' (", draft.op, ")");
}

// Inputs i, i+1, i+2 are integers, scale and zero point (which may be absent).
Result<Value*> dequantize(const NodeDraft& draft, GraphBuilder& builder, size_t i,
                          std::string_view suffix, int64_t axis) {
  if (!draft.has_input(i) || !draft.has_input(i + 1)) {
    return invalid_model(str(label(draft), ": input ", i, " or its scale is missing"));
  }
  std::vector<Value*> inputs = {draft.inputs[i], draft.inputs[i + 1]};
  if (draft.has_input(i + 2)) inputs.push_back(draft.inputs[i + 2]);
  return builder.emit(draft, "DequantizeLinear", suffix, std::move(inputs), {{"axis", axis}});
}

// Runs the float operator, then turns the draft into the QuantizeLinear of its result.
Status quantize_result(NodeDraft& draft, GraphBuilder& builder, std::string_view op,
                       std::vector<Value*> inputs, size_t scale_input) {
  if (!draft.has_input(scale_input)) {
    return invalid_model(str(label(draft), ": the scale of its result is missing"));
  }
  RK_ASSIGN(Value* const result, builder.emit(draft, op, "/float", std::move(inputs), draft.attrs));
  std::vector<Value*> all = {result, draft.inputs[scale_input]};
  if (draft.has_input(scale_input + 1)) all.push_back(draft.inputs[scale_input + 1]);
  draft.op = "QuantizeLinear";
  draft.inputs = std::move(all);
  draft.attrs.clear();
  return ok_status();
}

// The int32 bias has the scale of the products.
Result<Value*> dequantize_bias(const NodeDraft& draft, GraphBuilder& builder, size_t bias,
                               size_t x_scale, size_t w_scale) {
  RK_ASSIGN(Value* const scale, builder.emit(draft, "Mul", "/bias_scale",
                                             {draft.inputs[x_scale], draft.inputs[w_scale]}));
  return builder.emit(draft, "DequantizeLinear", "/bias", {draft.inputs[bias], scale},
                      {{"axis", int64_t{0}}});
}

std::string_view float_name(std::string_view op) {
  constexpr std::string_view kPrefix = "QLinear";
  return op.substr(kPrefix.size());
}

int64_t last_axis(const NodeDraft& draft, size_t i) {
  return draft.has_input(i) ? std::max(draft.inputs[i]->shape().rank() - 1, 0) : 0;
}

}  // namespace

Status split_qlinear_conv(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const std::optional<int64_t> channels_last, draft.take<int64_t>("channels_last"));
  if (channels_last.value_or(0) != 0) {
    return unsupported(str(label(draft), ": channels_last=1 is not supported"));
  }
  RK_ASSIGN(Value* const x, dequantize(draft, builder, 0, "/x", 1));
  RK_ASSIGN(Value* const w, dequantize(draft, builder, 3, "/w", 0));
  std::vector<Value*> inputs = {x, w};
  if (draft.has_input(8)) {
    RK_ASSIGN(Value* const bias, dequantize_bias(draft, builder, 8, 1, 4));
    inputs.push_back(bias);
  }
  return quantize_result(draft, builder, "Conv", std::move(inputs), 6);
}

Status split_qlinear_matmul(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const a, dequantize(draft, builder, 0, "/a", 0));
  RK_ASSIGN(Value* const b, dequantize(draft, builder, 3, "/b", last_axis(draft, 3)));
  return quantize_result(draft, builder, "MatMul", {a, b}, 6);
}

Status split_qlinear_binary(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const a, dequantize(draft, builder, 0, "/a", 0));
  RK_ASSIGN(Value* const b, dequantize(draft, builder, 3, "/b", 0));
  return quantize_result(draft, builder, float_name(draft.op), {a, b}, 6);
}

Status split_qlinear_unary(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(const std::optional<int64_t> channels_last, draft.take<int64_t>("channels_last"));
  if (channels_last.value_or(0) != 0) {
    return unsupported(str(label(draft), ": channels_last=1 is not supported"));
  }
  RK_ASSIGN(Value* const x, dequantize(draft, builder, 0, "/x", 0));
  // QLinearSoftmax says by an attribute of which opset its axis is.
  RK_ASSIGN(const std::optional<int64_t> opset, draft.take<int64_t>("opset"));
  if (opset && *opset < 13) {
    NodeDraft softmax = draft;
    softmax.op = float_name(draft.op);
    softmax.inputs = {x};
    RK_TRY(flatten_old_softmax(softmax, builder));
    NodeDraft around = draft;
    around.attrs = softmax.attrs;
    RK_TRY(quantize_result(around, builder, softmax.op, softmax.inputs, 3));
    draft = std::move(around);
    return ok_status();
  }
  return quantize_result(draft, builder, float_name(draft.op), {x}, 3);
}

Status split_qlinear_concat(NodeDraft& draft, GraphBuilder& builder) {
  std::vector<Value*> inputs;
  for (size_t i = 2; i + 1 < draft.inputs.size(); i += 3) {
    RK_ASSIGN(Value* const x, dequantize(draft, builder, i, str("/x", i / 3), 0));
    inputs.push_back(x);
  }
  return quantize_result(draft, builder, "Concat", std::move(inputs), 0);
}

// The product of the differences, in int32. A zero point per row of A or per column of B lies along that axis.
Status split_matmul_integer(NodeDraft& draft, GraphBuilder& builder) {
  std::vector<Value*> centered;
  for (size_t i = 0; i < 2; ++i) {
    if (!draft.has_input(i)) return invalid_model(str(label(draft), ": input ", i, " is missing"));
    const AttrMap to_i32 = {{"to", static_cast<int64_t>(DType::kI32)}};
    const std::string_view name = i == 0 ? "/a" : "/b";
    RK_ASSIGN(Value * value, builder.emit(draft, "Cast", name, {draft.inputs[i]}, to_i32));
    if (draft.has_input(i + 2)) {
      RK_ASSIGN(Value * zero,
                builder.emit(draft, "Cast", str(name, "_zero"), {draft.inputs[i + 2]}, to_i32));
      if (i == 0 && zero->shape().rank() == 1 && zero->shape()[0] != 1) {
        Value* const column = builder.ints(draft, "/column", {zero->shape()[0], 1});
        RK_ASSIGN(zero, builder.emit(draft, "Reshape", "/a_zero_rows", {zero, column}));
      }
      RK_ASSIGN(value, builder.emit(draft, "Sub", str(name, "_centred"), {value, zero}));
    }
    centered.push_back(value);
  }
  draft.op = "MatMul";
  draft.inputs = std::move(centered);
  return ok_status();
}

Status split_qgemm(NodeDraft& draft, GraphBuilder& builder) {
  const auto transposed = draft.attrs.find("transB");
  const bool rows_are_outputs =
      transposed != draft.attrs.end() && attr_equal(transposed->second, Attr(int64_t{1}));
  RK_ASSIGN(Value* const a, dequantize(draft, builder, 0, "/a", 0));
  RK_ASSIGN(Value* const b, dequantize(draft, builder, 3, "/b", rows_are_outputs ? 0 : 1));
  std::vector<Value*> inputs = {a, b};
  if (draft.has_input(6)) {
    RK_ASSIGN(Value* const bias, dequantize_bias(draft, builder, 6, 1, 4));
    inputs.push_back(bias);
  }
  if (!draft.has_input(7)) {
    draft.op = "Gemm";
    draft.inputs = std::move(inputs);
    return ok_status();
  }
  return quantize_result(draft, builder, "Gemm", std::move(inputs), 7);
}

}  // namespace rk::frontends
