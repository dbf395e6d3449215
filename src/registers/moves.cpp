// SPDX-License-Identifier: Apache-2.0
// Steps that only move bytes (Reshape, Transpose, Slice, Split, Squeeze, Unsqueeze). Where each byte of the result comes from is
// computed by the operator's definition; what is written follows from the pattern that these places have:
// whole blocks of channels are copied, lanes within blocks are selected by a convolution.
#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "registers/dpu.h"
#include "registers/layer.h"
#include "registers/layer_tasks.h"
#include "registers/selection.h"

namespace rk::registers {
namespace {

using program::OpParams;
using program::ProgramTensor;
using program::Step;

constexpr int64_t kMostElements = int64_t{1} << 24;

const ProgramTensor& tensor_of(const program::Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

// For each element of the result, in its plain order, the element of the operand.
using Sources = std::vector<int64_t>;

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (int i = shape.rank() - 2; i >= 0; --i)
    strides[static_cast<size_t>(i)] = strides[static_cast<size_t>(i) + 1] * shape[i + 1];
  return strides;
}

// Places first + sum of index * step over the axes of `shape`.
Sources walk(const Shape& shape, int64_t first, const std::vector<int64_t>& steps) {
  Sources sources;
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  int64_t at = first;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    sources.push_back(at);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      at += steps[a];
      if (++index[a] < shape[axis]) break;
      at -= steps[a] * shape[axis];
      index[a] = 0;
    }
  }
  return sources;
}

std::optional<std::vector<int64_t>> constant_of(const program::Program& program,
                                                const program::Variant& variant, const Step& step,
                                                size_t input) {
  if (input >= step.inputs.size() || step.inputs[input] == program::kNone) return std::nullopt;
  const ProgramTensor& tensor = tensor_of(variant, step.inputs[input]);
  if (!tensor.is_constant() || tensor.dtype != DType::kI64) return std::nullopt;
  const ByteSpan bytes = program.weights[static_cast<size_t>(tensor.weight)].bytes;
  std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = load<int64_t>(bytes.data() + i * sizeof(int64_t));
  return values;
}

std::optional<Sources> slice_sources(const program::Program& program,
                                     const program::Variant& variant, const Step& step,
                                     const Shape& from, const Shape& to) {
  const auto starts = constant_of(program, variant, step, 1);
  const auto axes = constant_of(program, variant, step, 3);
  const auto steps = constant_of(program, variant, step, 4);
  if (!starts || !axes || axes->size() != starts->size() || (step.inputs.size() > 4 && !steps) ||
      (steps && steps->size() != starts->size()))
    return std::nullopt;
  std::vector<int64_t> stride = strides_of(from);
  int64_t first = 0;
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + from.rank() : (*axes)[i];
    if (axis < 0 || axis >= from.rank()) return std::nullopt;
    const int64_t extent = from[static_cast<int>(axis)];
    int64_t start = (*starts)[i] < 0 ? (*starts)[i] + extent : (*starts)[i];
    if (steps && (*steps)[i] != 1) return std::nullopt;
    start = std::clamp<int64_t>(start, 0, extent);
    if (start + to[static_cast<int>(axis)] > extent) return std::nullopt;
    first += start * stride[static_cast<size_t>(axis)];
  }
  return walk(to, first, stride);
}

// A part of a Split, which begins with element `first`.
std::optional<Sources> part_sources(const Shape& from, const Shape& to, int64_t first) {
  if (to.rank() != from.rank() || to.elements() < 1 || to.elements() > kMostElements)
    return std::nullopt;
  return walk(to, first, strides_of(from));
}

// -1 where the step names none.
int64_t split_axis(const OpParams& params, const Shape& from) {
  const auto found = params.attrs.find("axis");
  const int64_t* const given =
      found == params.attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
  const int64_t axis = given == nullptr ? 0 : *given < 0 ? *given + from.rank() : *given;
  return axis < from.rank() ? axis : -1;
}

std::optional<Sources> sources_of(const program::Program& program, const program::Variant& variant,
                                  const Step& step, const OpParams& params) {
  const Shape& from = tensor_of(variant, step.inputs[0]).shape;
  const Shape& to = tensor_of(variant, step.outputs[0]).shape;
  if (to.elements() < 1 || to.elements() > kMostElements) return std::nullopt;
  if (params.op == "Slice" && from.rank() == to.rank())
    return slice_sources(program, variant, step, from, to);
  if (from.elements() != to.elements()) return std::nullopt;
  if (params.op == "Transpose") {
    const auto found = params.attrs.find("perm");
    if (found == params.attrs.end()) return std::nullopt;
    const auto* perm = std::get_if<std::vector<int64_t>>(&found->second);
    if (perm == nullptr || static_cast<int>(perm->size()) != from.rank()) return std::nullopt;
    const std::vector<int64_t> stride = strides_of(from);
    std::vector<int64_t> steps;
    for (const int64_t axis : *perm) {
      if (axis < 0 || axis >= from.rank()) return std::nullopt;
      steps.push_back(stride[static_cast<size_t>(axis)]);
    }
    return walk(to, 0, steps);
  }
  if (params.op == "Reshape" || params.op == "Squeeze" || params.op == "Unsqueeze" ||
      params.op == "Flatten")
    return walk(to, 0, strides_of(to));
  return std::nullopt;
}

// Samples and channels of a feature as planes of atoms, one sample after the other.
struct Planes {
  int64_t samples = 0, channels = 0, pixels = 0, lanes = 0, blocks = 0, plane = 0;

  int64_t count() const { return samples * blocks; }
  int64_t lane(int64_t sample, int64_t channel) const { return sample * blocks * lanes + channel; }
};

Planes planes_of(const program::Program& program, const ProgramTensor& t) {
  const Feature feature = feature_of(program, t);
  Planes p{t.shape[0], t.shape[1], t.shape[2] * t.shape[3], feature.lanes()};
  p.blocks = ceil_div(t.shape[1], p.lanes);
  p.plane = feature.plane_pixels();
  return p;
}

bool is_movable(DType dtype) { return dtype == DType::kI8 || dtype == DType::kF16; }

bool is_blocked(const ProgramTensor& t) {
  return is_movable(t.dtype) && t.layout == program::Layout::kNc1hwc2 && t.shape.rank() == 4 &&
         t.kind != program::TensorKind::kInput;
}

// The lane of the operand for each lane of the result (-1: no channel) where pixels stay in their places.
std::optional<std::vector<int64_t>> lanes_of(const Sources& sources, const Planes& from,
                                             const Planes& to) {
  if (from.pixels != to.pixels) return std::nullopt;
  std::vector<int64_t> lanes(static_cast<size_t>(to.count() * to.lanes), -1);
  for (int64_t sample = 0; sample < to.samples; ++sample) {
    for (int64_t channel = 0; channel < to.channels; ++channel) {
      const int64_t at = (sample * to.channels + channel) * to.pixels;
      const int64_t first = sources[static_cast<size_t>(at)];
      if (first % from.pixels != 0 || first / from.pixels >= from.samples * from.channels)
        return std::nullopt;
      for (int64_t pixel = 0; pixel < to.pixels; ++pixel) {
        if (sources[static_cast<size_t>(at + pixel)] != first + pixel) return std::nullopt;
      }
      const int64_t plane = first / from.pixels;
      lanes[static_cast<size_t>(to.lane(sample, channel))] =
          from.lane(plane / from.channels, plane % from.channels);
    }
  }
  return lanes;
}

// The block of the operand that block `to` of the result repeats; -1 when lanes change places.
int64_t repeated_block(const std::vector<int64_t>& lanes, int64_t block_lanes, int64_t to) {
  const int64_t first = lanes[static_cast<size_t>(to * block_lanes)];
  if (first < 0 || first % block_lanes != 0) return -1;
  for (int64_t lane = 0; lane < block_lanes; ++lane) {
    const int64_t from = lanes[static_cast<size_t>(to * block_lanes + lane)];
    if (from >= 0 && from != first + lane) return -1;
  }
  return first / block_lanes;
}

struct Move {
  const program::Program& program;
  const ProgramTensor& in;
  const ProgramTensor& out;

  bool is_float() const { return in.dtype == DType::kF16; }
  const Chip& chip() const { return *find_chip(program.target); }
  int64_t atom() const { return chip().atom_bytes; }
  int64_t lanes() const { return atom() / (is_float() ? 2 : 1); }
  int64_t pair() const { return 2 * lanes(); }  // channels that leave the array at a time
};

Result<LayerTasks> copy_blocks(const Move& m, const std::vector<int64_t>& blocks) {
  const Planes from = planes_of(m.program, m.in), to = planes_of(m.program, m.out);
  LayerTasks tasks;
  for (size_t first = 0; first < blocks.size();) {
    size_t last = first + 1;
    while (last < blocks.size() && blocks[last] == blocks[last - 1] + 1) ++last;
    DpuTask copy;
    copy.channels = static_cast<int64_t>(last - first) * m.lanes();
    copy.is_float = m.is_float();
    copy.chip = &m.chip();
    copy.height = m.out.shape[2];
    copy.width = m.out.shape[3];
    copy.source_plane = from.plane;
    copy.out_plane = to.plane;
    copy.source_bytes = static_cast<uint64_t>(blocks[first] * from.plane * m.atom());
    copy.out_bytes = first * static_cast<uint64_t>(to.plane * m.atom());
    RK_ASSIGN(RegisterTask task, write_dpu(copy));
    BoundTask bound{std::move(task), {}};
    bound.tensors[static_cast<size_t>(Operand::kFeature)] = m.in.name;
    bound.tensors[static_cast<size_t>(Operand::kOutput)] = m.out.name;
    tasks.tasks.push_back(std::move(bound));
    first = last;
  }
  return tasks;
}

// Whole pairs of blocks leave the array: the result must have room for them.
bool has_room(const ProgramTensor& out, int64_t end_bytes) {
  return static_cast<uint64_t>(end_bytes) <= out.size_bytes;
}

// Bytes that `channels` of a feature take, in whole pairs of blocks.
int64_t pairs_bytes(const Move& m, int64_t channels, int64_t plane) {
  return align_up(channels, m.pair()) / m.lanes() * plane * m.atom();
}

Feature view(const Move& m, int64_t channels, int64_t height, int64_t width, int64_t plane) {
  Feature feature{.channels = channels, .height = height, .width = width};
  feature.plane = plane;
  feature.is_float = m.is_float();
  feature.chip = &m.chip();
  return feature;
}

Selection selection_between(const Move& m) {
  Selection s;
  s.zero_point = m.in.zero_point;
  s.from = m.in.name;
  s.to = m.out.name;
  s.helper = m.out.name + "_conv_weight";
  return s;
}

// Where the result has no room for pairs of blocks they go to scratch, and from there on: `cube` says what and to where.
Status copy_from_scratch(const Move& m, DpuTask cube, LayerTasks& tasks) {
  ScratchFeature scratch{.name = m.out.name + "_exSecondary"};
  scratch.shape = Shape{1, align_up(cube.channels, m.pair()), 1, cube.source_plane};
  scratch.size_bytes = static_cast<uint64_t>(pairs_bytes(m, cube.channels, cube.source_plane));
  scratch.is_float = cube.is_float = m.is_float();
  cube.chip = &m.chip();
  scratch.scale = m.out.scale;
  scratch.zero_point = m.out.zero_point;
  RK_ASSIGN(RegisterTask task, write_dpu(cube));
  BoundTask bound{std::move(task), {}};
  bound.tensors[static_cast<size_t>(Operand::kFeature)] = scratch.name;
  bound.tensors[static_cast<size_t>(Operand::kOutput)] = m.out.name;
  tasks.tasks.push_back(std::move(bound));
  tasks.scratch.push_back(std::move(scratch));
  return ok_status();
}

Result<LayerTasks> select_lanes(const Move& m, std::vector<int64_t> lanes) {
  const Planes from = planes_of(m.program, m.in), to = planes_of(m.program, m.out);
  Selection s = selection_between(m);
  s.in = view(m, from.count() * m.lanes(), m.in.shape[2], m.in.shape[3], from.plane);
  s.out = view(m, to.count() * m.lanes(), m.out.shape[2], m.out.shape[3], to.plane);
  s.picks = std::move(lanes);
  const bool room = has_room(m.out, pairs_bytes(m, s.out.channels, to.plane));
  if (!room) s.to = m.out.name + "_exSecondary";
  LayerTasks tasks;
  RK_TRY(add_selection(m.program, s, tasks));
  if (room) return tasks;
  DpuTask copy{.channels = s.out.channels, .height = m.out.shape[2], .width = m.out.shape[3]};
  copy.source_plane = copy.out_plane = to.plane;
  RK_TRY(copy_from_scratch(m, copy, tasks));
  return tasks;
}

// [1, C, H, W] to [1, H, W, C]: rows become channels. For each C one selection among the lanes of all rows.
Result<LayerTasks> rows_to_channels(const Move& m) {
  const int64_t channels = m.in.shape[1], height = m.in.shape[2], width = m.in.shape[3];
  const Planes from = planes_of(m.program, m.in), to = planes_of(m.program, m.out);
  const bool room = has_room(m.out, pairs_bytes(m, height, to.plane));
  const int64_t lanes = m.lanes();
  LayerTasks tasks;
  for (int64_t c = 0; c < channels; ++c) {
    Selection s = selection_between(m);
    if (!room) s.to = m.out.name + "_exSecondary";
    s.in = view(m, height * lanes, width, 1, width);
    s.in_bytes = static_cast<uint64_t>(c / lanes * from.plane * m.atom());
    s.out = view(m, height, width, 1, to.plane);
    s.out.row_gap = channels - 1;
    s.out_bytes = static_cast<uint64_t>(c * m.atom());
    s.helper += str("_", c % lanes);
    for (int64_t y = 0; y < height; ++y) s.picks.push_back(y * lanes + c % lanes);
    RK_TRY(add_selection(m.program, s, tasks));
  }
  if (room) return tasks;
  DpuTask copy{.channels = align_up(height, lanes), .height = width, .width = channels};
  copy.source_plane = copy.out_plane = to.plane;
  RK_TRY(copy_from_scratch(m, copy, tasks));
  return tasks;
}

// A feature in plain order: 16 pixels of a channel become one atom, the channels of a block follow each other.
Result<LayerTasks> flatten(const Move& m) {
  const Planes from = planes_of(m.program, m.in);
  const int64_t block_lanes = m.lanes(), atoms = from.pixels / block_lanes;
  LayerTasks tasks;
  for (int64_t block = 0; block < from.count(); ++block) {
    const int64_t lanes = std::min(block_lanes, from.channels - block * block_lanes);
    Selection s = selection_between(m);
    s.in = view(m, block_lanes, atoms, block_lanes, from.plane);
    s.in_bytes = static_cast<uint64_t>(block * from.plane * m.atom());
    s.out = view(m, lanes * block_lanes, atoms, 1, atoms);
    s.out_bytes = static_cast<uint64_t>(block * block_lanes * atoms * m.atom());
    s.taps = static_cast<int32_t>(block_lanes);
    s.helper += str("_", lanes);
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t pixel = 0; pixel < block_lanes; ++pixel)
        s.picks.push_back(pixel * block_lanes + lane);
    const int64_t end = static_cast<int64_t>(s.out_bytes) + (lanes + lanes % 2) * atoms * m.atom();
    if (has_room(m.out, end)) {
      RK_TRY(add_selection(m.program, s, tasks));
    } else {
      DpuTask copy{.channels = lanes * block_lanes, .height = 1, .width = atoms};
      copy.source_plane = copy.out_plane = atoms;
      copy.out_bytes = s.out_bytes;
      s.to = m.out.name + "_exSecondary";
      s.out_bytes = 0;
      RK_TRY(add_selection(m.program, s, tasks));
      RK_TRY(copy_from_scratch(m, copy, tasks));
    }
  }
  return tasks;
}

bool is_plain(const ProgramTensor& t) {
  return is_movable(t.dtype) && t.layout != program::Layout::kNc1hwc2 &&
         t.layout != program::Layout::kWeight;
}

// Elements in plain order from the first byte on: plain tensors, and channels of a single pixel.
bool is_in_order(const program::Program& program, const ProgramTensor& t) {
  if (is_plain(t)) return true;
  if (!is_blocked(t) || t.shape[0] != 1) return false;
  const Planes planes = planes_of(program, t);
  return planes.pixels == 1 && planes.plane == 1;
}

Result<LayerTasks> copy_bytes(const Move& m) {
  const int64_t atoms = ceil_div(m.in.shape.elements(), m.lanes());
  DpuTask copy{.channels = m.lanes(), .height = 1, .width = atoms, .is_float = m.is_float()};
  copy.source_plane = copy.out_plane = atoms;
  copy.chip = &m.chip();
  RK_ASSIGN(RegisterTask task, write_dpu(copy));
  BoundTask bound{std::move(task), {}};
  bound.tensors[static_cast<size_t>(Operand::kFeature)] = m.in.name;
  bound.tensors[static_cast<size_t>(Operand::kOutput)] = m.out.name;
  LayerTasks tasks;
  tasks.tasks.push_back(std::move(bound));
  return tasks;
}

bool is_channels_last(const OpParams& params) {
  if (params.op != "Transpose") return false;
  const auto found = params.attrs.find("perm");
  const auto* perm =
      found == params.attrs.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  return perm != nullptr && *perm == std::vector<int64_t>{0, 2, 3, 1};
}

// One result of the step.
Result<LayerTasks> move_to(const program::Program& program, const program::Variant& variant,
                           const Step& step, size_t output, int64_t first) {
  const auto& params = std::get<OpParams>(step.params);
  const ProgramTensor& in = tensor_of(variant, step.inputs[0]);
  const ProgramTensor& out = tensor_of(variant, step.outputs[output]);
  const auto sources = params.op == "Split" ? part_sources(in.shape, out.shape, first)
                                            : sources_of(program, variant, step, params);
  if (!sources) return no_form(step, str("the operator ", params.op));
  const bool same_numbers =
      in.dtype == DType::kF16 || (in.scale == out.scale && in.zero_point == out.zero_point);
  if (!is_movable(in.dtype) || in.dtype != out.dtype || !same_numbers)
    return no_form(step, "a move between different types or scales");
  const Move move{program, in, out};
  const bool in_order = std::ranges::is_sorted(*sources) && sources->front() == 0 &&
                        static_cast<int64_t>(sources->size()) == in.shape.elements();
  if (in_order && is_in_order(program, in) && is_in_order(program, out) &&
      in.kind != program::TensorKind::kInput)
    return copy_bytes(move);
  if (!is_blocked(in)) return no_form(step, "a move of what does not lie in blocks of channels");
  const Planes from = planes_of(program, in);
  if (is_blocked(out)) {
    if (const auto lanes = lanes_of(*sources, from, planes_of(program, out))) {
      std::vector<int64_t> blocks;
      for (int64_t i = 0; i * move.lanes() < static_cast<int64_t>(lanes->size()); ++i)
        blocks.push_back(repeated_block(*lanes, move.lanes(), i));
      if (std::ranges::find(blocks, -1) == blocks.end()) return copy_blocks(move, blocks);
      return select_lanes(move, *lanes);
    }
    if (is_channels_last(params) && from.samples == 1) return rows_to_channels(move);
    return no_form(step, "a move of pixels");
  }
  if (!is_plain(out) || !in_order || from.samples != 1)
    return no_form(step, "a move into plain order that changes it");
  if (from.pixels % move.lanes() != 0)
    return no_form(step, str("planes of ", from.pixels, " pixels in plain order; ", move.lanes(),
                             " divides those it has"));
  return flatten(move);
}

void append(LayerTasks part, LayerTasks& all) {
  const auto move_all = [](auto& from, auto& to) {
    std::ranges::move(from, std::back_inserter(to));
  };
  move_all(part.tasks, all.tasks);
  move_all(part.helpers, all.helpers);
  move_all(part.scratch, all.scratch);
}

}  // namespace

Result<LayerTasks> move_tasks(const program::Program& program, const program::Variant& variant,
                              const Step& step) {
  const auto& params = std::get<OpParams>(step.params);
  const bool splits = params.op == "Split";
  if (step.inputs.empty() || step.inputs[0] == program::kNone ||
      (step.outputs.size() != 1 && !splits))
    return no_form(step, str("the operator ", params.op));
  const Shape& from = tensor_of(variant, step.inputs[0]).shape;
  const int64_t axis = splits ? split_axis(params, from) : 0;
  if (axis < 0) return no_form(step, "a Split without an axis");
  LayerTasks all;
  int64_t first = 0;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    RK_ASSIGN(LayerTasks part, move_to(program, variant, step, i,
                                       first * strides_of(from)[static_cast<size_t>(axis)]));
    append(std::move(part), all);
    first += splits ? tensor_of(variant, step.outputs[i]).shape[static_cast<int>(axis)] : 0;
  }
  return all;
}

}  // namespace rk::registers
