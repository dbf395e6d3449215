// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit.h"

#include <algorithm>

#include "ir/custom_op.h"

namespace rk::compiler {
namespace {

struct Row {
  std::string_view op;
  Result<bool> (*emit)(const Node& node, Builder& builder);
};

struct ConvRow {
  std::string_view op;
  Result<bool> (*emit)(const Node& node, const ConvTail* tail, Builder& builder);
};

constexpr ConvRow kConvRows[] = {
    {"Conv", emit_conv},   {"FusedConv", emit_conv}, {"ConvTranspose", emit_conv_transpose},
    {"Gemm", emit_matmul}, {"MatMul", emit_matmul},
};

constexpr Row kRows[] = {
    {"Add", emit_sum},
    {"Sum", emit_sum},
    {"Concat", emit_concat},
    {"MaxPool", emit_pool},
    {"AveragePool", emit_pool},
    {"GlobalMaxPool", emit_pool},
    {"GlobalAveragePool", emit_pool},
    {"Resize", emit_resize},
};

// int16 anywhere: the operator's definition on the real numbers, rounded to the result's type.
bool is_wide(const Node& node) {
  const auto wide = [](const Value* value) {
    return value != nullptr && value->quantized() && value->quant.dtype == DType::kI16;
  };
  return std::ranges::any_of(node.inputs(), wide) || std::ranges::any_of(node.outputs(), wide);
}

Result<bool> emit_specially(const Node& node, Builder& builder) {
  if (is_wide(node)) return false;
  const auto* conv = std::ranges::find(kConvRows, node.op(), &ConvRow::op);
  if (conv != std::end(kConvRows)) {
    RK_ASSIGN(const bool taken, conv->emit(node, nullptr, builder));
    if (taken) return true;
  }
  const auto* row = std::ranges::find(kRows, node.op(), &Row::op);
  if (row != std::end(kRows)) {
    RK_ASSIGN(const bool taken, row->emit(node, builder));
    if (taken) return true;
  }
  return emit_table(node, builder);
}

}  // namespace

uint64_t macs_of(const Node& node) {
  return node.def().cost == nullptr ? 0 : node.def().cost(node).macs;
}

Status emit(const Node& node, Builder& builder) {
  const auto taken = emit_specially(node, builder);
  if (!taken.ok()) return taken.status().with_context(node.label());
  if (*taken) return ok_status();
  return emit_op(node, builder).with_context(node.label());
}

Result<bool> emit(const ConvTail& tail, Builder& builder) {
  const auto* row = std::ranges::find(kConvRows, tail.conv->op(), &ConvRow::op);
  if (row == std::end(kConvRows)) return false;
  auto taken = row->emit(*tail.conv, &tail, builder);
  if (!taken.ok()) return taken.status().with_context(tail.conv->label());
  return taken;
}

Status emit_op(const Node& node, Builder& builder) {
  program::Step step;
  const bool is_npu_softmax =
      node.op() == "Softmax" && builder.processor() == program::Processor::kNpu;
  step.type = is_npu_softmax ? "exSoftmax13" : user_name(node.op());  // the vendor's name
  step.name = str(step.type, ":", node.name());
  step.macs = macs_of(node);
  // A float result from an int8 value: the conversion is a step of its own, as users know it.
  const bool float_result = std::ranges::any_of(node.outputs(), [](const Value* value) {
    return value != nullptr && is_float(value->dtype()) && !is_i8(*value) && !is_i16(*value);
  });
  const bool wide = is_wide(node);
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) {
      step.inputs.push_back(program::kNone);
    } else {
      step.inputs.push_back(float_result ? builder.as_f16(node.input(i))
                            : wide       ? builder.as_i16(node.input(i))
                                         : builder.home(node.input(i)));
    }
  }
  for (const Value* value : node.outputs()) step.outputs.push_back(builder.home(*value));
  program::OpParams params{.op = std::string(node.op()), .attrs = node.attrs()};
  if (is_npu_softmax) params.attrs["axis"] = node.i64("axis");
  step.params = std::move(params);
  builder.add_step(std::move(step));
  return ok_status();
}

}  // namespace rk::compiler
