// SPDX-License-Identifier: Apache-2.0
#include "compiler/scratch.h"

#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "program/cost.h"
#include "target/memory_rules.h"

namespace rk::compiler {
namespace {

using program::ProgramTensor;
using program::Step;
using program::Variant;

// A sequence of keys is padded to this many.
constexpr int64_t kKeyAlign = 32, kDepthAlign = 32;
// Normalization: bytes of an element, then of a position by type, then once.
constexpr int64_t kNormElement = 4, kNormPositionI8 = 32, kNormPositionF16 = 64, kNormFixed = 64;

const ProgramTensor& tensor(const Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

int64_t block_of(const target::Target& target, DType dtype) {
  return dtype == DType::kI8 ? target.c2_i8 : target.c2_f16;
}

// Saturates: extents come from hostile models too, and the plan of such a one only has to be large.
uint64_t bytes(double value) {
  return static_cast<uint64_t>(std::clamp(value, 0.0, 4503599627370496.0));
}

int64_t up(int64_t value, int64_t multiple) { return align_up<int64_t>(value, multiple); }

double size_of(DType dtype) { return static_cast<double>(byte_size(dtype)); }

// Rows by depth of the last two axes, heads before them.
struct Sequence {
  int64_t heads = 1, rows = 1, depth = 1;
};

std::optional<Sequence> sequence_of(const Shape& shape) {
  const int rank = shape.rank();
  if (rank < 2) return std::nullopt;
  const int64_t rows = shape[rank - 2], depth = shape[rank - 1];
  if (rows < 1 || depth < 1) return std::nullopt;
  return Sequence{shape.elements() / (rows * depth), rows, depth};
}

uint64_t attention_bytes(const target::Target& target, DType dtype, int64_t heads, int64_t queries,
                         int64_t keys, int64_t depth) {
  const target::MemoryRules& memory = target::memory_rules(target);
  const bool i8 = dtype == DType::kI8;
  const target::AttentionScratch& a =
      heads > 1 ? (i8 ? memory.attention_heads_i8 : memory.attention_heads_f16)
                : (i8 ? memory.attention_i8 : memory.attention_f16);
  const auto q = static_cast<double>(queries), k = static_cast<double>(keys);
  const auto padded = static_cast<double>(up(keys, kKeyAlign));
  // int8: a depth that is not a multiple of 32 is padded in several copies.
  const bool odd = i8 && depth % kDepthAlign != 0;
  const auto row = static_cast<double>(odd ? 7 * up(depth, 16) + 16 : a.row);
  return bytes(q * (a.square * k + a.padded * padded + row) + a.fixed);
}

bool has_attention(const target::Target& target) {
  return target::memory_rules(target).attention_i8.square != 0;
}

uint64_t softmax_bytes(const target::SoftmaxScratch& s, const ProgramTensor& in, int64_t axis) {
  const int rank = in.shape.rank();
  if (rank == 0 || (s.padded == 0 && s.blocks == 0)) return 0;
  const int64_t along = in.shape[static_cast<int>(axis < 0 ? axis + rank : axis)];
  if (along < 1) return 0;
  const auto positions = static_cast<double>(in.shape.elements() / along);
  return bytes(positions * static_cast<double>(2 * s.padded * up(along, 16) +
                                               2 * s.blocks * up(along, 8) + s.fixed));
}

// Batch, channels and pixels of a shape of three or four axes.
struct Planes {
  int64_t batch = 1, channels = 1, pixels = 1, width = 1;
};

std::optional<Planes> planes_of(const Shape& shape) {
  if (shape.rank() != 3 && shape.rank() != 4) return std::nullopt;
  const int64_t width = shape[shape.rank() - 1];
  return Planes{shape[0], shape[1], shape.rank() == 4 ? shape[2] * width : width, width};
}

// A Reshape that cuts channels into a batch, or joins them, goes through a copy; where blocks are not full, two.
uint64_t reshape_bytes(const target::Target& target, const ProgramTensor& in,
                       const ProgramTensor& out) {
  const auto from = planes_of(in.shape), to = planes_of(out.shape);
  if (!from || !to || from->batch == to->batch || from->pixels != to->pixels) return 0;
  const Planes& cut = from->batch > to->batch ? *from : *to;
  // The side of four axes knows the width.
  const int64_t width = std::max<int64_t>(1, in.shape.rank() == 4 ? from->width : to->width);
  const int64_t block = block_of(target, in.dtype);
  const bool whole = cut.pixels % block == 0;
  const int64_t pixels = whole ? cut.pixels : cut.pixels / width * up(width, block);
  const int copies = cut.channels % block == 0 ? 1 : 2;
  return bytes(copies * static_cast<double>(cut.batch * up(cut.channels, block)) *
               static_cast<double>(pixels) * size_of(in.dtype));
}

const std::vector<int64_t>* perm_of(const Step& step) {
  const auto* op = std::get_if<program::OpParams>(&step.params);
  if (op == nullptr || op->op != "Transpose") return nullptr;
  const auto found = op->attrs.find("perm");
  return found == op->attrs.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
}

// Batch and channels change places.
bool swaps_batch(const Step& step) {
  const auto* perm = perm_of(step);
  if (perm == nullptr || perm->size() < 3 || perm->size() > 4) return false;
  for (size_t i = 2; i < perm->size(); ++i)
    if ((*perm)[i] != static_cast<int64_t>(i)) return false;
  return (*perm)[0] == 1;
}

// Batches that became channels, in full blocks.
uint64_t swapped_bytes(const target::Target& target, const ProgramTensor& in, int64_t pixels = 0) {
  const auto planes = planes_of(in.shape);
  const int64_t block = block_of(target, in.dtype);
  if (!planes) return 0;
  return bytes(static_cast<double>(up(planes->batch, block) * up(planes->channels, block)) *
               static_cast<double>(pixels == 0 ? planes->pixels : pixels) * size_of(in.dtype));
}

// Of a Transpose of pictures that makes channels the last axis: its result and what it needs beside it.
struct Nhwc {
  uint64_t result = 0, scratch = 0;
};

std::optional<Nhwc> nhwc_of(const target::Target& target, const Variant& variant,
                            const Step& step) {
  const target::NhwcScratch form = target::memory_rules(target).nhwc;
  const auto* perm = perm_of(step);
  if (form == target::NhwcScratch::kNone || perm == nullptr ||
      *perm != std::vector<int64_t>{0, 2, 3, 1} || step.inputs[0] == program::kNone)
    return std::nullopt;
  const ProgramTensor& in = tensor(variant, step.inputs[0]);
  if (in.layout != program::Layout::kNc1hwc2) return std::nullopt;
  const int64_t block = block_of(target, in.dtype), channels = in.shape[1];
  const auto row = static_cast<double>(in.shape[0] * in.shape[3]) * size_of(in.dtype);
  const auto padded = static_cast<double>(up(in.shape[2], block) * up(channels, block));
  Nhwc found{.result = bytes(row * padded)};
  if (form == target::NhwcScratch::kTwice) {
    found.scratch = bytes(2 * row * padded);
  } else if (channels != block) {
    found.scratch = bytes(row * static_cast<double>(in.shape[2] * channels)) +
                    (channels > block ? in.size_bytes : 0);
  }
  return found;
}

std::string_view op_of(const Step& step) {
  const auto* op = std::get_if<program::OpParams>(&step.params);
  return op == nullptr ? std::string_view() : std::string_view(op->op);
}

int64_t axis_of(const Step& step) {
  const auto* op = std::get_if<program::OpParams>(&step.params);
  const auto found = op->attrs.find("axis");
  if (found == op->attrs.end()) return -1;
  const auto* axis = std::get_if<int64_t>(&found->second);
  return axis == nullptr ? -1 : *axis;
}

bool only_moves(const Step& step) {
  const std::string_view op = op_of(step);
  return op == "Reshape" || op == "Transpose" || op == "Split" || op == "Slice" ||
         op == "Squeeze" || op == "Unsqueeze";
}

// Linear Resize reads a copy with a border: of two rows and columns, one where the first pixel keeps its place. With
// aligned corners it enlarges rows first.
uint64_t resize_bytes(const target::Target& target, const Variant& variant, const Step& step) {
  const auto& resize = std::get<program::ResizeParams>(step.params);
  const ProgramTensor& in = tensor(variant, step.inputs[0]);
  int64_t h = in.shape[2], w = in.shape[3];
  if (resize.coordinates == program::CoordinateMode::kAlignCorners) {
    w = tensor(variant, step.outputs[0]).shape[3];
  } else {
    const int64_t border = resize.coordinates == program::CoordinateMode::kAsymmetric ? 1 : 2;
    h += border;
    w += border;
  }
  const int64_t pixels = up(h * w, std::max(1, target.plane_align));
  return bytes(static_cast<double>(in.shape[0] * up(in.shape[1], block_of(target, in.dtype))) *
               static_cast<double>(pixels) * size_of(in.dtype));
}

}  // namespace

ResizeForm resize_form(const target::Target& target, const Variant& variant, const Step& step) {
  const auto* resize = std::get_if<program::ResizeParams>(&step.params);
  if (resize == nullptr) return ResizeForm::kRepeats;
  const Shape& in = tensor(variant, step.inputs[0]).shape;
  const Shape& out = tensor(variant, step.outputs[0]).shape;
  bool enlarges = true, reduces = true;  // by integers
  for (const int axis : {2, 3}) {
    enlarges = enlarges && in[axis] > 0 && out[axis] % in[axis] == 0;
    reduces = reduces && out[axis] > 0 && in[axis] % out[axis] == 0;
  }
  if (resize->mode == program::ResizeMode::kNearest)
    return enlarges ? ResizeForm::kRepeats : ResizeForm::kPlanes;
  const bool corners = resize->coordinates == program::CoordinateMode::kAlignCorners;
  if (target::memory_rules(target).linear_any || (enlarges && !corners))
    return reduces && !corners ? ResizeForm::kPlanes : ResizeForm::kLinear;
  return reduces && !corners ? ResizeForm::kPlanes : ResizeForm::kRepeats;
}

std::vector<bool> activations_alone(const target::Target& target, const Variant& variant) {
  std::vector<bool> alone(variant.steps.size(), false);
  std::vector<bool> convolved(variant.tensors.size(), false);
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    const Step& step = variant.steps[s];
    const bool reads = !step.inputs.empty() && step.inputs[0] != program::kNone;
    alone[s] = reads && program::joins_step_before(step) &&
               program::activation_form(step) != program::ActivationForm::kNone &&
               !convolved[static_cast<size_t>(step.inputs[0])];
    const auto* pool = std::get_if<program::PoolParams>(&step.params);
    // What a convolution adds comes behind its activation; x + conv(x) is one convolution.
    const bool adds = step.inputs.size() > 3 && step.inputs[3] != program::kNone &&
                      step.inputs[3] != step.inputs[0];
    const bool convolves = (std::holds_alternative<program::ConvParams>(step.params) && !adds) ||
                           (pool != nullptr && pool->kind == program::PoolKind::kAverage) ||
                           (reads && program::made_convolution(target, variant, step));
    for (const int32_t out : step.outputs) convolved[static_cast<size_t>(out)] = convolves;
  }
  return alone;
}

bool makes_channels_last(const target::Target& target, const Variant& variant, const Step& step) {
  return nhwc_of(target, variant, step).has_value();
}

uint64_t scratch_bytes(const target::Target& target, const Variant& variant, const Step& step) {
  if (step.inputs.empty() || step.inputs[0] == program::kNone) return 0;
  const ProgramTensor& in = tensor(variant, step.inputs[0]);
  const ProgramTensor& out = tensor(variant, step.outputs[0]);
  const std::string_view op = op_of(step);
  if (op == "exSDPAttention" && has_attention(target)) {
    const auto queries = sequence_of(in.shape);
    const auto keys = sequence_of(tensor(variant, step.inputs[1]).shape);
    if (!queries || !keys) return 0;
    return attention_bytes(target, in.dtype, queries->heads, queries->rows, keys->rows,
                           queries->depth);
  }
  if (resize_form(target, variant, step) == ResizeForm::kLinear)
    return resize_bytes(target, variant, step);
  if (op == "Softmax")
    return softmax_bytes(target::memory_rules(target).softmax, in, axis_of(step));
  if (op == "LayerNormalization" && target::memory_rules(target).norm_copies_f16 > 1) {
    const auto rows = sequence_of(in.shape);
    if (!rows) return 0;
    const int64_t position = in.dtype == DType::kI8 ? kNormPositionI8 : kNormPositionF16;
    return bytes(static_cast<double>(rows->heads * rows->rows) *
                     static_cast<double>(kNormElement * rows->depth + position) +
                 kNormFixed);
  }
  if (op == "Reshape" && target::memory_rules(target).reshape_scratch)
    return reshape_bytes(target, in, out);
  if (const auto nhwc = nhwc_of(target, variant, step)) return nhwc->scratch;
  if (swaps_batch(step) && target::memory_rules(target).reshape_scratch) {
    const auto planes = planes_of(in.shape);
    if (!planes) return 0;
    const int64_t pixels = up(planes->pixels, block_of(target, in.dtype));
    return 2 * swapped_bytes(target, in, pixels);
  }
  const auto* concat = std::get_if<program::ConcatParams>(&step.params);
  const bool blocked = out.layout == program::Layout::kNc1hwc2;
  if (concat == nullptr || !target.memory.concat_scratch || concat->axis != 1 || !blocked) return 0;
  const int64_t block = out.native_shape.back();
  for (size_t i = 0; i + 1 < step.inputs.size(); ++i) {
    if (step.inputs[i] == program::kNone) continue;
    const Shape& shape = tensor(variant, step.inputs[i]).shape;
    if (shape.rank() != 4 || shape[1] % block != 0) return out.size_bytes;
  }
  return 0;
}

std::vector<uint64_t> output_copies(const target::Target& target, const ProgramTensor& output) {
  const target::OutputCopy copy = target::memory_rules(target).output_copy;
  if (copy == target::OutputCopy::kNone || output.shape.rank() != 4) return {};
  if (output.dtype != DType::kI8 && output.dtype != DType::kF16) return {};
  const int64_t block = block_of(target, output.dtype);
  const int64_t channels = output.shape[1], height = output.shape[2], width = output.shape[3];
  const auto pixels = static_cast<double>(output.shape[0] * width) * size_of(output.dtype);
  const auto full = static_cast<double>(up(channels, block));
  if (copy == target::OutputCopy::kTransposed) {
    constexpr int64_t kCopies = 4, kLane = 4;
    if (output.dtype == DType::kI8 && width % block == 0)
      return {bytes(static_cast<double>(kCopies * height * up(channels, kLane)) * pixels)};
    return {bytes(static_cast<double>(up(height, block)) * pixels * full)};
  }
  const double rows = static_cast<double>(height) * pixels;
  if (channels % block == 0) return {bytes(rows * full)};
  return {bytes(rows * full), bytes(rows * static_cast<double>(channels))};
}

std::vector<uint64_t> stored_bytes(const target::Target& target, const Variant& variant) {
  const target::MemoryRules& memory = target::memory_rules(target);
  std::vector<uint64_t> stored(variant.tensors.size(), 0);
  for (size_t i = 0; i < stored.size(); ++i) stored[i] = variant.tensors[i].size_bytes;
  const auto may_grow = [&](int32_t index) {
    return tensor(variant, index).kind == program::TensorKind::kInternal;
  };
  const auto grow = [&](int32_t index, int copies) {
    uint64_t& size = stored[static_cast<size_t>(index)];
    const uint64_t own = tensor(variant, index).size_bytes;
    if (may_grow(index)) size = std::max(size, checked_mul(own, uint64_t(copies)).value_or(size));
  };
  std::vector<bool> in_sequence(variant.tensors.size(), false);
  const std::vector<bool> alone = activations_alone(target, variant);
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    const Step& step = variant.steps[s];
    if (step.processor != program::Processor::kNpu || step.inputs.empty()) continue;
    const int32_t in = step.inputs[0], out = step.outputs[0];
    if (in == program::kNone) continue;
    const bool f16 = tensor(variant, in).dtype == DType::kF16;
    const program::ActivationForm form = program::activation_form(step);
    // Of a step of its own what it reads: there the convolution before it writes.
    const int32_t table = std::holds_alternative<program::ConvParams>(step.params) ? out : in;
    const bool by_table = form == program::ActivationForm::kTable;
    const bool by_gate = form == program::ActivationForm::kGate;
    if (alone[s] && (by_table || by_gate)) {
      grow(out, f16 ? memory.table_copies_f16 : memory.alone_copies_i8);
    } else if (f16 && (by_table || by_gate)) {
      grow(table, by_table ? memory.table_copies_f16 : memory.gate_copies_f16);
    }
    if (f16 && op_of(step) == "LayerNormalization") grow(in, memory.norm_copies_f16);
    uint64_t& size = stored[static_cast<size_t>(out)];
    if (swaps_batch(step) && memory.reshape_scratch && may_grow(out))
      size = std::max(size, swapped_bytes(target, tensor(variant, in)));
    const auto nhwc = nhwc_of(target, variant, step);
    if (nhwc && may_grow(out)) size = std::max(size, nhwc->result);
    if (op_of(step) != "exSDPAttention" || !has_attention(target)) continue;
    for (const auto* list : {&step.inputs, &step.outputs})
      for (const int32_t index : *list)
        if (index != program::kNone) in_sequence[static_cast<size_t>(index)] = true;
  }
  for (const AttentionRegion& region : attention_regions(target, variant)) {
    for (const size_t s : {region.steps.front(), region.steps.back()}) {
      const Step& product = variant.steps[s];
      for (const auto* list : {&product.inputs, &product.outputs})
        for (const int32_t index : *list)
          if (index != program::kNone) in_sequence[static_cast<size_t>(index)] = true;
    }
  }
  // What only moves between a convolution and attention keeps attention's layout.
  for (size_t s = variant.steps.size(); s-- > 0;) {
    const Step& step = variant.steps[s];
    if (!only_moves(step) || step.inputs[0] == program::kNone) continue;
    const bool leads = std::ranges::any_of(
        step.outputs, [&](int32_t out) { return in_sequence[static_cast<size_t>(out)]; });
    if (leads) in_sequence[static_cast<size_t>(step.inputs[0])] = true;
  }
  for (const Step& step : variant.steps) {
    if (!only_moves(step) || step.inputs[0] == program::kNone) continue;
    if (!in_sequence[static_cast<size_t>(step.inputs[0])]) continue;
    for (const int32_t out : step.outputs) in_sequence[static_cast<size_t>(out)] = true;
  }
  for (size_t i = 1; i < stored.size(); ++i) {
    const ProgramTensor& t = variant.tensors[i];
    const auto rows = sequence_of(t.shape);
    if (!in_sequence[i] || t.kind != program::TensorKind::kInternal || !rows) continue;
    const int64_t block = block_of(target, t.dtype);
    const uint64_t size = bytes(static_cast<double>(rows->heads * rows->rows) *
                                static_cast<double>(up(rows->depth, block)) * size_of(t.dtype));
    stored[i] = std::min(stored[i], size);
  }
  return stored;
}

std::vector<AttentionRegion> attention_regions(const target::Target& target,
                                               const Variant& variant) {
  std::vector<AttentionRegion> regions;
  if (!has_attention(target)) return regions;
  std::vector<int64_t> writer(variant.tensors.size(), -1), reader(variant.tensors.size(), -1);
  std::vector<size_t> readers(variant.tensors.size(), 0);
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    for (const int32_t out : variant.steps[s].outputs)
      writer[static_cast<size_t>(out)] = static_cast<int64_t>(s);
    for (const int32_t in : variant.steps[s].inputs) {
      if (in == program::kNone) continue;
      reader[static_cast<size_t>(in)] = static_cast<int64_t>(s);
      ++readers[static_cast<size_t>(in)];
    }
  }
  const auto passes = [](const Step& step) {
    const std::string_view op = op_of(step);
    return op == "Mul" || op == "Div" || op == "Add" || op == "Transpose" || op == "Reshape" ||
           op == "exDataConvert" || std::holds_alternative<program::SumParams>(step.params) ||
           std::holds_alternative<program::TableParams>(step.params);
  };
  for (size_t s = 0; s < variant.steps.size(); ++s) {
    if (op_of(variant.steps[s]) != "Softmax") continue;
    AttentionRegion region{.steps = {s}};
    // Back to the product of queries and keys, then on to the product with values.
    int32_t at = variant.steps[s].inputs[0];
    bool found = false;
    while (at != program::kNone && readers[static_cast<size_t>(at)] == 1 &&
           writer[static_cast<size_t>(at)] >= 0) {
      region.inner.push_back(at);
      const auto before = static_cast<size_t>(writer[static_cast<size_t>(at)]);
      region.steps.insert(region.steps.begin(), before);
      const Step& step = variant.steps[before];
      found = op_of(step) == "MatMul";
      if (found || !passes(step)) break;
      at = step.inputs[0];
    }
    if (!found) continue;
    at = variant.steps[s].outputs[0];
    found = false;
    while (readers[static_cast<size_t>(at)] == 1) {
      region.inner.push_back(at);
      region.steps.push_back(static_cast<size_t>(reader[static_cast<size_t>(at)]));
      const Step& step = variant.steps[region.steps.back()];
      found = op_of(step) == "MatMul";
      if (found || !passes(step)) break;
      at = step.outputs[0];
    }
    const auto scores = sequence_of(tensor(variant, variant.steps[s].inputs[0]).shape);
    if (!found || !scores) continue;
    const DType dtype = tensor(variant, variant.steps[region.steps.front()].inputs[0]).dtype;
    region.scratch_bytes =
        attention_bytes(target, dtype, scores->heads, scores->rows, scores->depth, kDepthAlign);
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace rk::compiler
