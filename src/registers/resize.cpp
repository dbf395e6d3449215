// SPDX-License-Identifier: Apache-2.0
// Nearest Resize that repeats pixels a whole number of times: the DPU enlarges one block of channels after the other, as
// in vendor files, or a transposed convolution spreads them.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "registers/dpu.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"

namespace rk::registers {
namespace {

using program::CoordinateMode;
using program::NearestMode;

double source_of(const program::ResizeParams& p, float scale, int64_t from, int64_t to, int64_t x) {
  const auto place = static_cast<double>(x);
  switch (p.coordinates) {
    case CoordinateMode::kHalfPixel:
      return (place + 0.5) / scale - 0.5;
    case CoordinateMode::kPytorchHalfPixel:
      return to == 1 ? 0.0 : (place + 0.5) / scale - 0.5;
    case CoordinateMode::kAlignCorners:
      return to == 1 ? 0.0 : place * static_cast<double>(from - 1) / static_cast<double>(to - 1);
    default:
      return place / scale;
  }
}

double rounded(NearestMode mode, double place) {
  switch (mode) {
    case NearestMode::kFloor:
      return std::floor(place);
    case NearestMode::kCeil:
      return std::ceil(place);
    case NearestMode::kRoundPreferCeil:
      return std::floor(place + 0.5);
    default:
      return std::ceil(place - 0.5);
  }
}

// Every pixel of the result is the one of its rectangle.
bool repeats(const program::ResizeParams& p, float scale, int64_t from, int64_t to) {
  if (to % from != 0) return false;
  for (int64_t x = 0; x < to; ++x) {
    const auto at = static_cast<int64_t>(rounded(p.nearest, source_of(p, scale, from, to, x)));
    if (std::clamp<int64_t>(at, 0, from - 1) != x / (to / from)) return false;
  }
  return true;
}

// RK3576: a transposed depthwise convolution with weights of one, whose kernels do not overlap. The
// vendor's compiler has another form.
Result<LayerTasks> spread_tasks(const program::Program& program, const program::ProgramTensor& in,
                                const program::ProgramTensor& out) {
  constexpr ScaleShift kUnity{16384, 14};
  ConvLayer layer{.params = {}, .in = feature_of(program, in), .out = feature_of(program, out)};
  layer.is_depthwise = true;
  layer.params.transposed = true;
  layer.params.kernel = {static_cast<int32_t>(layer.out.height / layer.in.height),
                         static_cast<int32_t>(layer.out.width / layer.in.width)};
  layer.params.stride = layer.params.kernel;
  layer.params.group = static_cast<int32_t>(layer.in.channels);
  layer.params.pad_value = in.zero_point;
  layer.params.multiplier_shift = kUnity.shift;
  layer.params.output = {kUnity, in.zero_point};
  LayerTasks tasks;
  if (layer.in.is_float) {
    layer.params.output = {};
    layer.params.pad_value = 0;
    RK_TRY(add_half_sums(std::move(layer), 1, in.name, out.name, tasks));
    return tasks;
  }
  RK_TRY(add_sums(program, std::move(layer), {-in.zero_point, kUnity}, in.name, out.name, tasks));
  return tasks;
}

}  // namespace

Result<LayerTasks> resize_tasks(const program::Program& program, const program::Variant& variant,
                                const program::Step& step) {
  const auto& p = std::get<program::ResizeParams>(step.params);
  const program::ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const program::ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const bool is_float = is_half_feature(in) && is_half_feature(out);
  if (!is_float && (!is_feature(in) || !is_feature(out) || !p.identity))
    return no_form(step, "features that are not of one type and scale in blocks of channels");
  if (p.mode != program::ResizeMode::kNearest || in.kind == program::TensorKind::kInput ||
      in.shape[1] != out.shape[1] || !repeats(p, p.scale_h, in.shape[2], out.shape[2]) ||
      !repeats(p, p.scale_w, in.shape[3], out.shape[3]))
    return no_form(step, "a Resize that is not a repetition of pixels");
  const Feature from = feature_of(program, in), to = feature_of(program, out);
  const int64_t atom_bytes = from.chip->atom_bytes;
  if (from.chip->is_rk3576) return spread_tasks(program, in, out);
  LayerTasks tasks;
  tasks.form = LayerForm::kIdentical;
  for (int64_t block = 0; block < ceil_div(from.channels, from.lanes()); ++block) {
    Enlargement one{.height = from.height, .width = from.width};
    one.source_plane = from.plane_pixels();
    one.out_plane = to.plane_pixels();
    one.source_bytes = static_cast<uint64_t>(block * one.source_plane * atom_bytes);
    one.out_bytes = static_cast<uint64_t>(block * one.out_plane * atom_bytes);
    one.times = {static_cast<int32_t>(to.height / from.height),
                 static_cast<int32_t>(to.width / from.width)};
    one.is_float = is_float;
    one.chip = from.chip;
    RK_ASSIGN(RegisterTask task, write_enlargement(one));
    BoundTask bound{std::move(task), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = in.name;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = out.name;
    tasks.tasks.push_back(std::move(bound));
  }
  return tasks;
}

}  // namespace rk::registers
