// SPDX-License-Identifier: Apache-2.0
// Add and Concat: several tensors brought to one scale.
#include <algorithm>

#include "compiler/emit.h"

namespace rk::compiler {
namespace {

bool all_inputs(const Node& node, bool (*accepts)(const Value& value)) {
  return std::ranges::all_of(
      node.inputs(), [&](const Value* value) { return value != nullptr && accepts(*value); });
}

bool is_variable(const Value& value) { return !value.is_constant(); }
bool is_float_value(const Value& value) { return is_float(value.dtype()); }

struct Stages {
  std::vector<program::InputStage> inputs;
  program::OutputStage output;
  bool identity = true;  // every input has the output's scale
};

// An operand of a Concat is rounded once, as the DPU's copies do it: (x + offset) * scale / 2^shift, then the zero point.
Result<Stages> copies_of(const Node& node) {
  constexpr ScaleShift kUnity{16384, 14};
  const Affine out = affine_of(node.output());
  Stages stages{.output = {kUnity, out.zero_point}};
  for (const Value* value : node.inputs()) {
    const Affine from = affine_of(*value);
    program::InputStage stage{-from.zero_point, {1, 0}};
    if (from.scale != out.scale) {
      RK_ASSIGN(stage.scale, to_scale_shift(static_cast<double>(from.scale) / out.scale));
    }
    stages.inputs.push_back(stage);
    stages.identity = stages.identity && from == out;
  }
  return stages;
}

Result<Stages> stages_of(const Node& node) {
  const Affine out = affine_of(node.output());
  Stages stages{.output = program::output_stage(out)};
  for (const Value* value : node.inputs()) {
    RK_ASSIGN(const program::InputStage stage, program::input_stage(affine_of(*value), out));
    stages.inputs.push_back(stage);
    stages.identity = stages.identity && affine_of(*value) == out;
  }
  return stages;
}

}  // namespace

Result<bool> emit_sum(const Node& node, Builder& builder) {
  const Value& y = node.output();
  const bool same_shapes = std::ranges::all_of(node.inputs(), [&](const Value* value) {
    return value != nullptr && value->shape() == y.shape();
  });
  if (!same_shapes || !all_inputs(node, is_variable) || !is_float(y.dtype())) return false;
  if (!all_inputs(node, is_float_value)) return false;

  program::Step step{.type = "Add", .name = str("Add:", node.name()), .macs = macs_of(node)};
  program::SumParams params;
  const bool integer = builder.may_use_integers(node) && all_inputs(node, is_i8) && is_i8(y);
  if (integer) {
    RK_ASSIGN(Stages stages, stages_of(node));
    params.inputs = std::move(stages.inputs);
    params.output = stages.output;
  }
  for (const Value* value : node.inputs()) {
    step.inputs.push_back(integer ? builder.home(*value) : builder.as_f16(*value));
  }
  const int32_t written = builder.output(y, integer ? DType::kI8 : DType::kF16);
  step.outputs = {written};
  step.params = std::move(params);
  builder.add_step(std::move(step));
  builder.finish_output(y, written);
  return true;
}

Result<bool> emit_concat(const Node& node, Builder& builder) {
  const Value& y = node.output();
  if (!all_inputs(node, is_variable)) return false;
  program::Step step{.type = "Concat", .name = str("Concat:", node.name())};
  program::ConcatParams params{.identity = true};
  const int64_t axis = node.i64("axis");
  params.axis = static_cast<int32_t>(axis < 0 ? axis + y.shape().rank() : axis);

  const bool integer = builder.may_use_integers(node) && all_inputs(node, is_i8) && is_i8(y);
  if (integer) {
    RK_ASSIGN(Stages stages, copies_of(node));
    params.identity = stages.identity;
    if (!stages.identity) {
      params.inputs = std::move(stages.inputs);
      params.output = stages.output;
    }
  }
  for (const Value* value : node.inputs()) {
    step.inputs.push_back(integer ? builder.home(*value) : builder.as_f16(*value));
  }
  const bool f16 = !integer && is_float(y.dtype());
  const int32_t written = f16 ? builder.output(y, DType::kF16) : builder.home(y);
  step.outputs = {written};
  step.params = std::move(params);
  builder.add_step(std::move(step));
  builder.finish_output(y, written);
  return true;
}

}  // namespace rk::compiler
