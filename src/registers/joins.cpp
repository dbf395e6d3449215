// SPDX-License-Identifier: Apache-2.0
// Concat over channels and Add: tasks of the DPU, and a selection where channels do not fill whole blocks.
#include <numeric>

#include "base/checked_math.h"
#include "registers/dpu.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"
#include "registers/selection.h"

namespace rk::registers {
namespace {

using program::ConcatParams;
using program::InputStage;
using program::ProgramTensor;

constexpr ScaleShift kUnity{16384, 14};

const ProgramTensor& tensor_of(const program::Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

// A copy of an operand to the scale of the result.
DpuTask stages_of(const ConcatParams& params, size_t input) {
  DpuTask task;
  if (params.identity) return task;
  const InputStage& stage = params.inputs[input];
  const bool one_rounding = params.output.scale == kUnity;
  if (one_rounding && stage == InputStage{-params.output.zero_point, {1, 0}}) return task;
  task.source = one_rounding ? InputStage{stage.offset, {1, 0}} : stage;
  task.output = params.output;
  if (one_rounding) task.output.scale = stage.scale;
  return task;
}

// Copies one operand of a Concat behind the channels before it.
DpuTask copy_of(const program::Program& program, const ConcatParams& params, size_t input,
                const ProgramTensor& from, const ProgramTensor& to) {
  const Feature feature = feature_of(program, from);
  DpuTask task = feature.is_float ? DpuTask{} : stages_of(params, input);
  task.height = from.shape[2];
  task.width = from.shape[3];
  task.channels = align_up<int64_t>(from.shape[1], feature.lanes());
  task.is_float = feature.is_float;
  task.chip = feature.chip;
  task.real_channels = from.shape[1];
  task.source_plane = feature.plane_pixels();
  task.out_plane = feature_of(program, to).plane_pixels();
  return task;
}

BoundTask bind(RegisterTask task, const std::string& from, const std::string& to) {
  BoundTask bound{std::move(task), {}};
  bound.tensors[static_cast<size_t>(Operand::kFeature)] = from;
  bound.tensors[static_cast<size_t>(Operand::kOutput)] = to;
  return bound;
}

// Tensors in plain order whose operands follow each other: runs of atoms.
Result<LayerTasks> plain_concat_tasks(const program::Program& program,
                                      const program::Variant& variant, const program::Step& step) {
  const auto& params = std::get<ConcatParams>(step.params);
  const ProgramTensor& out = tensor_of(variant, step.outputs[0]);
  const Chip& chip = *find_chip(program.target);
  const auto atom_bytes = static_cast<uint64_t>(chip.atom_bytes);
  const bool is_float = out.dtype == DType::kF16;
  const auto is_plain = [&](const ProgramTensor& t) {
    return t.dtype == out.dtype &&
           (t.layout == program::Layout::kPlain || t.layout == program::Layout::kNchw);
  };
  for (int axis = 0; axis < params.axis; ++axis) {
    if (out.shape[axis] != 1)
      return no_form(step, "a Concat that does not join channels of features, one sample");
  }
  LayerTasks tasks;
  uint64_t first = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const ProgramTensor& from = tensor_of(variant, step.inputs[i]);
    if ((!is_float && from.dtype != DType::kI8) || !is_plain(from) || !is_plain(out) ||
        from.kind == program::TensorKind::kInput || first % atom_bytes != 0)
      return no_form(step, "a Concat whose operands do not begin with a whole atom");
    const auto bytes = static_cast<uint64_t>(from.shape.elements()) * byte_size(from.dtype);
    DpuTask copy = is_float ? DpuTask{} : stages_of(params, i);
    copy.is_float = is_float;
    copy.channels = chip.atom_bytes / (is_float ? 2 : 1);
    copy.chip = &chip;
    copy.height = 1;
    copy.width = static_cast<int64_t>(ceil_div(bytes, atom_bytes));
    copy.source_plane = copy.out_plane = copy.width;
    // The vendor's form there: one row of the result, which goes on behind the copy.
    constexpr int64_t kMostGap = 8191;
    const auto all = static_cast<uint64_t>(out.shape.elements()) * byte_size(out.dtype);
    const auto row = static_cast<int64_t>(ceil_div(all, atom_bytes));
    if (chip.is_rk3562 && row - copy.width <= kMostGap) {
      copy.out_plane = row;
      copy.out_row_gap = row - copy.width;
    }
    copy.out_bytes = first;
    RK_ASSIGN(RegisterTask task, write_dpu(copy));
    tasks.tasks.push_back(bind(std::move(task), from.name, out.name));
    first += bytes;
  }
  return tasks;
}

// Operands one after the other in whole blocks; the selection leaves out the lanes between them.
Selection close_gaps(const program::Program& program, const program::Variant& variant,
                     const program::Step& step, const ProgramTensor& out,
                     const ScratchFeature& scratch) {
  Selection s;
  s.in = s.out = feature_of(program, out);
  s.in.channels = scratch.shape[1];
  s.zero_point = out.zero_point;
  s.from = scratch.name;
  s.to = out.name;
  s.helper = out.name + "_conv_weight";
  int64_t first = 0;
  for (const int32_t input : step.inputs) {
    const int64_t channels = tensor_of(variant, input).shape[1];
    for (int64_t c = 0; c < channels; ++c) s.picks.push_back(first + c);
    first += align_up(channels, s.in.lanes());
  }
  return s;
}

}  // namespace

Result<LayerTasks> concat_tasks(const program::Program& program, const program::Variant& variant,
                                const program::Step& step) {
  const auto& params = std::get<ConcatParams>(step.params);
  const ProgramTensor& out = tensor_of(variant, step.outputs[0]);
  const bool is_float = is_half_feature(out);
  const auto is_operand = [&](const ProgramTensor& t) {
    return is_float ? is_half_feature(t) : is_feature(t);
  };
  const bool has_stages = params.identity || params.inputs.size() == step.inputs.size();
  if (!has_stages && out.dtype != DType::kF16)
    return no_form(step, "a Concat without a stage for each operand");
  if (!is_operand(out) || params.axis != 1) return plain_concat_tasks(program, variant, step);
  const int64_t lanes_of_block = feature_of(program, out).lanes();
  bool whole = true;
  int64_t lanes = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const ProgramTensor& from = tensor_of(variant, step.inputs[i]);
    if (!is_operand(from) || from.kind == program::TensorKind::kInput)
      return no_form(step, "a Concat of operands that are not features inside the model");
    const bool last = i + 1 == step.inputs.size();
    whole = whole && (last || from.shape[1] % lanes_of_block == 0);
    lanes += align_up<int64_t>(from.shape[1], lanes_of_block);
  }
  LayerTasks tasks;
  tasks.form = LayerForm::kIdentical;
  const auto plane = static_cast<uint64_t>(feature_of(program, out).plane_pixels());
  ScratchFeature scratch{.name = out.name + "_exSecondary"};
  scratch.shape = Shape{1, lanes, out.shape[2], out.shape[3]};
  scratch.plane_align = out.plane_align;
  const auto element = static_cast<uint64_t>(feature_of(program, out).element_bytes());
  scratch.size_bytes = static_cast<uint64_t>(lanes) * plane * element;
  scratch.is_float = is_float;
  scratch.scale = out.scale;
  scratch.zero_point = out.zero_point;
  const std::string& to = whole ? out.name : scratch.name;
  uint64_t first = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const ProgramTensor& from = tensor_of(variant, step.inputs[i]);
    DpuTask copy = copy_of(program, params, i, from, out);
    copy.out_bytes = first * plane * element;
    RK_ASSIGN(RegisterTask task, write_dpu(copy));
    tasks.tasks.push_back(bind(std::move(task), from.name, to));
    first += static_cast<uint64_t>(copy.channels);
  }
  if (whole) return tasks;
  tasks.scratch.push_back(scratch);
  RK_TRY(add_selection(program, close_gaps(program, variant, step, out, scratch), tasks));
  return tasks;
}

Result<LayerTasks> sum_tasks(const program::Program& program, const program::Variant& variant,
                             const program::Step& step) {
  const auto& params = std::get<program::SumParams>(step.params);
  const ProgramTensor& out = tensor_of(variant, step.outputs[0]);
  const bool is_float = is_half_feature(out);
  if (step.inputs.size() != 2 || (!is_float && params.inputs.size() != 2))
    return no_form(step, "a sum of other than two operands");
  for (const int32_t input : step.inputs) {
    const ProgramTensor& from = tensor_of(variant, input);
    if (!(is_float ? is_half_feature(from) : is_feature(from)) || from.shape != out.shape ||
        from.kind == program::TensorKind::kInput)
      return no_form(step, "operands that are not features of the result's type and extents");
  }
  if (!is_float && !is_feature(out)) return no_form(step, "a result that is not a feature");
  const ProgramTensor& a = tensor_of(variant, step.inputs[0]);
  const ProgramTensor& b = tensor_of(variant, step.inputs[1]);
  DpuTask sum;
  sum.height = out.shape[2];
  sum.width = out.shape[3];
  sum.channels = align_up<int64_t>(out.shape[1], feature_of(program, out).lanes());
  sum.is_float = is_float;
  sum.chip = feature_of(program, out).chip;
  sum.real_channels = out.shape[1];
  sum.source_plane = feature_of(program, a).plane_pixels();
  sum.addend_plane = feature_of(program, b).plane_pixels();
  sum.out_plane = feature_of(program, out).plane_pixels();
  sum.activation = params.activation;
  if (is_float) {
    sum.addend = InputStage{0, {1, 0}};
  } else {
    sum.source = params.inputs[0];
    sum.addend = params.inputs[1];
    sum.output = params.output;
  }
  RK_ASSIGN(RegisterTask task, write_dpu(sum));
  BoundTask bound = bind(std::move(task), a.name, out.name);
  bound.tensors[static_cast<size_t>(Operand::kAddend)] = b.name;
  LayerTasks tasks;
  tasks.form = LayerForm::kIdentical;
  tasks.tasks.push_back(std::move(bound));
  return tasks;
}

}  // namespace rk::registers
