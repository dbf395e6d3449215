// SPDX-License-Identifier: Apache-2.0
// exDataConvert. From int8 to float16: stored numbers become halves, which are then brought to
// their scale where they lie. The vendor's compiler does the same with features. From float16 to
// int8: one list, where no half rounds to another number than our runtime's.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/checked_math.h"
#include "base/fixed_point.h"
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

// Every half times the factor, plus the addend, is the int8 that our runtime makes of it.
bool rounds_alike(const HalfStage& stage, const ProgramTensor& out) {
  constexpr uint32_t kHalves = 0x10000;
  const float factor = half_to_float(stage.factor);
  for (uint32_t bits = 0; bits < kHalves; ++bits) {
    const float x = half_to_float(static_cast<uint16_t>(bits));
    if (!std::isfinite(x)) continue;
    const float y = std::clamp(std::nearbyint(x * factor + stage.addend), -128.0f, 127.0f);
    if (y != static_cast<float>(quantize_f32(x, out.scale, out.zero_point))) return false;
  }
  return true;
}

// Our runtime divides by the scale: a quotient may lie on the other side of a tie, by less than a
// float's last bit.
std::optional<HalfStage> narrowing_stage(const ProgramTensor& out) {
  const auto zero = static_cast<float>(out.zero_point);
  constexpr float kFar = 1024;
  for (const float addend : {zero, std::nextafter(zero, -kFar), std::nextafter(zero, kFar)}) {
    const HalfStage stage{addend, float_to_half(1 / out.scale)};
    if (rounds_alike(stage, out)) return stage;
  }
  return std::nullopt;
}

Result<LayerTasks> narrowing_tasks(const program::Program& program, const program::Step& step,
                                   const ProgramTensor& in, const ProgramTensor& out) {
  const Chip& chip = *find_chip(program.target);
  const auto stage = narrowing_stage(out);
  if (!stage)
    return no_form(step, str("float16 to int8 of scale ", out.scale,
                             ", which the chip multiplies by a half that is not its inverse"));
  DpuTask narrow{.channels = chip.atom_bytes, .is_float = true, .to_int8 = true};
  narrow.half_source = stage;
  LayerTasks tasks;
  if (is_half_feature(in) && is_feature(out)) {
    const Feature feature = feature_of(program, in);
    narrow.channels = align_up(feature.channels, chip.atom_bytes);
    narrow.height = feature.height;
    narrow.width = feature.width;
    narrow.source_plane = feature.plane_pixels();
    narrow.out_plane = feature_of(program, out).plane_pixels();
    if (feature.channels % chip.atom_bytes != 0)
      return no_form(step, "float16 to int8 of channels that do not fill blocks of 16");
  } else if (is_plain(in) && is_plain(out)) {
    // Every other atom each.
    narrow.height = ceil_div(in.shape.elements(), chip.atom_bytes);
    narrow.width = narrow.source_plane = narrow.out_plane = 1;
    narrow.source_row_gap = 1;
    narrow.out_plane = narrow.height;
  } else {
    return no_form(step, "a conversion between different layouts");
  }
  RK_ASSIGN(RegisterTask task, write_dpu(narrow));
  tasks.tasks.push_back(between(std::move(task), in.name, out.name));
  return tasks;
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
  scale.half_source = HalfStage{static_cast<float>(-copy.zero_point), float_to_half(copy.scale)};
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
  if (chip.is_rk3576 || chip.is_rv1106)
    return no_form(step, str("a conversion on ", program.target));
  if (chip.is_rk3566 && out.dtype != DType::kF16)
    return no_form(step, "a conversion to int8 on RK3566");
  if (in.kind == program::TensorKind::kInput || in.shape != out.shape)
    return no_form(step, "a conversion of an input of the model");
  if (in.dtype == DType::kF16 && out.dtype == DType::kI8 && out.quantized())
    return narrowing_tasks(program, step, in, out);
  if (in.dtype != DType::kI8 || !in.quantized() || out.dtype != DType::kF16)
    return no_form(step, "a conversion other than between int8 and float16");
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
  scale.half_source = HalfStage{static_cast<float>(-in.zero_point), float_to_half(in.scale)};
  RK_ASSIGN(RegisterTask scaled, write_dpu(scale));
  tasks.tasks.push_back(between(std::move(scaled), out.name, out.name));
  return tasks;
}

}  // namespace rk::registers
