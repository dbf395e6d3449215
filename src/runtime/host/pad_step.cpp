// SPDX-License-Identifier: Apache-2.0
// Pad on tensors as they are stored, both of one element type: rows are copied, what lies around them is filled.
#include <algorithm>
#include <cstring>

#include "base/fixed_point.h"
#include "base/half.h"
#include "ir/graph.h"
#include "kernels/layout/blocked.h"
#include "ops/move/pad.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

constexpr int64_t kLongestAxis = 1 << 22;

using program::ProgramTensor;

// The rows of a tensor: its memory as [rows][columns][lanes], where a row's number counts all axes but the last. Blocks of
// 16 channels are one axis of rows and 16 lanes of a pixel.
struct Geometry {
  std::vector<std::vector<int64_t>> rows;  // per axis of rows, the source of each index
  std::vector<int64_t> extents;            // of those axes in the source
  std::vector<int64_t> columns;
  int64_t source_columns = 0;
  size_t pixel_bytes = 0;
};

// One copy or fill of neighboring pixels within a row.
struct Run {
  int64_t to = 0, from = 0, count = 0;
};

std::vector<Run> runs_of(const std::vector<int64_t>& columns) {
  std::vector<Run> out;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool fill = columns[i] == ops::kPadValue;
    const bool goes_on =
        !out.empty() && (fill ? out.back().from == ops::kPadValue
                              : out.back().from != ops::kPadValue &&
                                    out.back().from + out.back().count == columns[i]);
    if (!goes_on) out.push_back({static_cast<int64_t>(i), columns[i], 0});
    ++out.back().count;
  }
  return out;
}

bool is_whole(const std::vector<int64_t>& sources, int64_t extent) {
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] != static_cast<int64_t>(i)) return false;
  }
  return static_cast<int64_t>(sources.size()) == extent;
}

std::optional<Geometry> geometry_of(const StepContext& context,
                                    std::vector<std::vector<int64_t>> sources) {
  const Shape& in = context.input(0).shape;
  const HostTensor &from = context.host(context.step.inputs[0]),
                   &to = context.host(context.step.outputs[0]);
  if (from.interleaved || to.interleaved || from.blocked != to.blocked || sources.empty())
    return std::nullopt;
  Geometry g;
  g.pixel_bytes = byte_size(context.input(0).dtype);
  for (int axis = 0; axis < in.rank(); ++axis) g.extents.push_back(in[axis]);
  if (from.blocked) {
    if (!is_whole(sources[1], in[1])) return std::nullopt;
    g.extents[1] = kernels::channel_blocks(static_cast<int32_t>(in[1]));
    sources[1].resize(static_cast<size_t>(g.extents[1]));
    g.pixel_bytes *= kernels::kHostBlock;
  }
  g.source_columns = g.extents.back();
  g.extents.pop_back();
  g.columns = std::move(sources.back());
  sources.pop_back();
  g.rows = std::move(sources);
  return g;
}

// The constant as the tensor stores it.
std::optional<std::vector<uint8_t>> stored_value(const ProgramTensor& tensor, const Node& node) {
  const Tensor* const given = node.has_input(2) ? &node.input(2).constant() : nullptr;
  std::vector<uint8_t> out(byte_size(tensor.dtype), 0);
  if (tensor.quantized()) {
    if (tensor.dtype != DType::kI8) return std::nullopt;
    const float value = given != nullptr ? static_cast<float>(given->at_f64(0)) : 0;
    out[0] = static_cast<uint8_t>(quantize_f32(value, tensor.scale, tensor.zero_point));
  } else if (given != nullptr) {
    const Tensor same = given->cast(tensor.dtype);
    std::memcpy(out.data(), same.bytes().data(), out.size());
  }
  return out;
}

struct PadStep {
  Geometry g;
  std::vector<Run> runs;
  std::vector<uint8_t> filler;  // one row of the constant
  int32_t input = program::kNone, output = program::kNone;

  // The row of the source, or none where an axis lies outside it.
  int64_t source_row(int64_t row) const {
    int64_t out = 0, stride = 1;
    for (size_t axis = g.rows.size(); axis-- > 0;) {
      const auto extent = static_cast<int64_t>(g.rows[axis].size());
      const int64_t at = g.rows[axis][static_cast<size_t>(row % extent)];
      if (at == ops::kPadValue) return ops::kPadValue;
      out += at * stride;
      stride *= g.extents[axis];
      row /= extent;
    }
    return out;
  }

  void copy_row(int64_t row, const uint8_t* from, uint8_t* to) const {
    const int64_t source = source_row(row);
    if (source == ops::kPadValue) {
      std::memcpy(to, filler.data(), filler.size());
      return;
    }
    const uint8_t* const start =
        from + static_cast<size_t>(source * g.source_columns) * g.pixel_bytes;
    for (const Run& run : runs) {
      const uint8_t* const what = run.from == ops::kPadValue
                                      ? filler.data()
                                      : start + static_cast<size_t>(run.from) * g.pixel_bytes;
      std::memcpy(to + static_cast<size_t>(run.to) * g.pixel_bytes, what,
                  static_cast<size_t>(run.count) * g.pixel_bytes);
    }
  }

  Status operator()(const StepCall& call) const {
    int64_t rows = 1;
    for (const auto& axis : g.rows) rows *= static_cast<int64_t>(axis.size());
    const auto* const from = call.data<uint8_t>(input);
    auto* const to = call.data<uint8_t>(output);
    call.parallel(rows, static_cast<int64_t>(filler.size() / 8 + 16 + 4 * runs.size()),
                  [&](IndexRange range) {
                    for (int64_t row = range.begin; row < range.end; ++row)
                      copy_row(row, from, to + static_cast<size_t>(row) * filler.size());
                  });
    return ok_status();
  }
};

}  // namespace

Attempt prepare_pad(const StepContext& context, const Node& node) {
  if (node.op() != "Pad" || context.input(0).is_constant())
    return Refusal{"not the padding of a variable"};
  if (!same_element(context.input(0), context.output()) || context.output().shape.elements() == 0 ||
      context.input(0).shape.elements() == 0)
    return Refusal{"input and output differ in type or scale, or are empty"};
  for (size_t i = 1; i < node.input_count(); ++i) {
    if (node.has_input(i) && !node.input(i).is_constant())
      return Refusal{"the extents or the value are not constant"};
  }
  const auto dims = node.output().shape().dims();
  if (std::any_of(dims.begin(), dims.end(), [](int64_t extent) { return extent > kLongestAxis; }))
    return Refusal{"an axis too long for a list of its elements"};
  auto sources = ops::pad_sources(node);
  const auto value = stored_value(context.output(), node);
  if (!sources.ok() || !value) return Refusal{"a mode or value that rows do not have"};
  auto geometry = geometry_of(context, std::move(*sources));
  if (!geometry) return Refusal{"input and output differ in layout, or channels are padded"};
  PadStep step{.g = std::move(*geometry),
               .runs = {},
               .filler = {},
               .input = context.step.inputs[0],
               .output = context.step.outputs[0]};
  step.runs = runs_of(step.g.columns);
  const size_t bytes = step.g.columns.size() * step.g.pixel_bytes;
  while (step.filler.size() < bytes)
    step.filler.insert(step.filler.end(), value->begin(), value->end());
  return StepFunction(std::move(step));
}

}  // namespace rk::runtime::host
