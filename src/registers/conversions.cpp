// SPDX-License-Identifier: Apache-2.0
// exDataConvert from int8 to float16: stored numbers become halves, which are then brought to their scale where they lie. The
// vendor's compiler does the same with features.
#include "base/checked_math.h"
#include "base/half.h"
#include "registers/dpu.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"

namespace rk::registers {
namespace {

using program::ProgramTensor;

BoundTask between(RegisterTask task, const std::string& from, const std::string& to) {
  BoundTask bound{std::move(task), {}};
  bound.tensors[static_cast<size_t>(Operand::kFeature)] = from;
  bound.tensors[static_cast<size_t>(Operand::kOutput)] = to;
  return bound;
}

bool is_plain(const ProgramTensor& t) {
  return t.layout == program::Layout::kPlain || t.layout == program::Layout::kNchw;
}

// Bytes in plain order: rows of one atom, each of which becomes two.
DpuTask plain_widening(const Chip& chip, const ProgramTensor& in) {
  DpuTask widen{.channels = chip.atom_bytes, .width = 1, .to_half = true};
  widen.height = ceil_div(in.shape.elements(), chip.atom_bytes);
  widen.source_plane = widen.height;
  widen.out_plane = 1;
  widen.out_row_gap = 1;
  return widen;
}

}  // namespace

Status add_halves(const HalfCopy& copy, LayerTasks& tasks) {
  DpuTask widen{.channels = align_up(copy.channels, copy.chip->atom_bytes),
                .height = copy.height,
                .width = copy.width,
                .chip = copy.chip,
                .real_channels = copy.channels,
                .source_plane = copy.source_plane,
                .out_plane = copy.out_plane,
                .to_half = true};
  RK_ASSIGN(RegisterTask widened, write_dpu(widen));
  tasks.tasks.push_back(between(std::move(widened), copy.from, copy.to));
  DpuTask scale = widen;
  scale.to_half = false;
  scale.is_float = true;
  scale.channels = align_up(copy.channels, copy.chip->atom_bytes / 2);
  scale.source_plane = copy.out_plane;
  scale.half_source = HalfStage{-static_cast<float>(copy.zero_point), float_to_half(copy.scale)};
  scale.beyond = copy.beyond;
  RK_ASSIGN(RegisterTask scaled, write_dpu(scale));
  tasks.tasks.push_back(between(std::move(scaled), copy.to, copy.to));
  return ok_status();
}

Result<LayerTasks> conversion_tasks(const program::Program& program,
                                    const program::Variant& variant, const program::Step& step) {
  const ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const Chip& chip = *find_chip(program.target);
  if (chip.is_rk3566) return no_form(step, "a conversion on RK3566");
  if (chip.is_rk3562) return no_form(step, "a conversion on RK3562");
  if (in.dtype != DType::kI8 || !in.quantized() || out.dtype != DType::kF16 ||
      in.shape != out.shape || in.kind == program::TensorKind::kInput)
    return no_form(step, "a conversion other than of int8 inside the model to float16");
  LayerTasks tasks;
  if (is_feature(in) && is_half_feature(out)) {
    const Feature feature = feature_of(program, in);
    tasks.form = LayerForm::kIdentical;
    RK_TRY(add_halves({.chip = &chip,
                       .channels = feature.channels,
                       .height = feature.height,
                       .width = feature.width,
                       .source_plane = feature.plane_pixels(),
                       .out_plane = feature_of(program, out).plane_pixels(),
                       .scale = in.scale,
                       .zero_point = in.zero_point,
                       .from = in.name,
                       .to = out.name,
                       .beyond = uint16_t{0}},
                      tasks));
    return tasks;
  }
  if (!is_plain(in) || !is_plain(out))
    return no_form(step, "a conversion between different layouts");
  RK_ASSIGN(RegisterTask widened, write_dpu(plain_widening(chip, in)));
  tasks.tasks.push_back(between(std::move(widened), in.name, out.name));
  DpuTask scale{.channels = chip.atom_bytes / 2, .height = 1, .is_float = true};
  scale.width = ceil_div(in.shape.elements(), scale.channels);
  scale.source_plane = scale.out_plane = scale.width;
  scale.half_source = HalfStage{-static_cast<float>(in.zero_point), float_to_half(in.scale)};
  RK_ASSIGN(RegisterTask scaled, write_dpu(scale));
  tasks.tasks.push_back(between(std::move(scaled), out.name, out.name));
  return tasks;
}

}  // namespace rk::registers
