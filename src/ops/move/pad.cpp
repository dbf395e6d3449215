// SPDX-License-Identifier: Apache-2.0
// Pad: adds elements around x. Negative pads cut instead. reflect does not repeat the border
// element, edge does.
#include "ops/move/pad.h"

#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

struct AxisPad {
  int64_t begin = 0;
  int64_t end = 0;
};

Result<std::vector<AxisPad>> pads_per_axis(const Shape& in, std::span<const int64_t> pads,
                                           std::span<const int64_t> given_axes, bool has_axes) {
  std::vector<int64_t> every(static_cast<size_t>(in.rank()));
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int64_t>(i);
  RK_ASSIGN(const std::vector<int> axes, normalize_axes(has_axes ? given_axes : every, in.rank()));
  if (pads.size() != 2 * axes.size()) {
    return refuse("input 1 ('pads') has ", pads.size(), " values, expected ", 2 * axes.size(),
                  ": all beginnings, then all ends");
  }
  std::vector<AxisPad> out(static_cast<size_t>(in.rank()));
  constexpr int64_t kMost = int64_t{1} << 31;
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisPad pad = {pads[i], pads[i + axes.size()]};
    if (pad.begin < -kMost || pad.begin > kMost || pad.end < -kMost || pad.end > kMost ||
        in[axes[i]] + pad.begin + pad.end < 0) {
      return refuse("input 1 ('pads') is ", to_string(pads), ", which does not fit x ",
                    rk::to_string(in));
    }
    out[static_cast<size_t>(axes[i])] = pad;
  }
  return out;
}

Status check_mode(const Node& node, const Shape& in, std::span<const AxisPad> pads) {
  RK_TRY(require_one_of(node, "mode", {"constant", "reflect", "edge", "wrap"}));
  const std::string& mode = node.text("mode");
  if (mode == "constant") return ok_status();
  for (int axis = 0; axis < in.rank(); ++axis) {
    const AxisPad& pad = pads[static_cast<size_t>(axis)];
    const int64_t widest = std::max(pad.begin, pad.end);
    if (widest > 0 && in[axis] == 0)
      return refuse("mode '", mode, "' cannot pad axis ", axis, ", whose extent is 0");
    if (mode == "reflect" && widest > 0 && widest >= in[axis]) {
      return refuse("input 1 ('pads') has ", widest, " on axis ", axis,
                    ", mode 'reflect' takes less than the extent ", in[axis]);
    }
  }
  return ok_status();
}

Status pad_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const std::vector<int64_t> pads, constant_ints(call, 1));
  std::vector<int64_t> axes;
  if (call.has_input(3)) {
    RK_ASSIGN(axes, constant_ints(call, 3));
  }
  if (call.has_input(2)) {
    RK_TRY(require_same_dtype(call, 0, 2));
    if (call.input(2).shape.elements() != 1) {
      return refuse("input 2 ('value') is ", rk::to_string(call.input(2)),
                    ", expected one element");
    }
  }
  RK_ASSIGN(const std::vector<AxisPad> per_axis, pads_per_axis(in, pads, axes, call.has_input(3)));
  RK_TRY(check_mode(call.node, in, per_axis));
  std::vector<int64_t> dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const AxisPad& pad = per_axis[static_cast<size_t>(axis)];
    dims.push_back(in[axis] + pad.begin + pad.end);
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

// Which input element an output element shows; -1 for the constant.
int64_t source_of(int64_t i, int64_t extent, std::string_view mode) {
  if (i >= 0 && i < extent) return i;
  if (mode == "edge") return std::clamp<int64_t>(i, 0, extent - 1);
  if (mode == "wrap") return (i % extent + extent) % extent;
  if (mode == "reflect") return i < 0 ? -i : 2 * (extent - 1) - i;
  return kPadValue;
}

Result<std::vector<AxisSource>> sources_of(const Shape& in, const Tensor& pads, const Tensor* axes,
                                           std::string_view mode) {
  const std::vector<int64_t> given = axes != nullptr ? axes->to_i64() : std::vector<int64_t>();
  RK_ASSIGN(const std::vector<AxisPad> per_axis,
            pads_per_axis(in, pads.to_i64(), given, axes != nullptr));
  std::vector<AxisSource> sources;
  for (size_t axis = 0; axis < per_axis.size(); ++axis) {
    sources.push_back([begin = per_axis[axis].begin, extent = in[static_cast<int>(axis)],
                       mode](int64_t i) { return source_of(i - begin, extent, mode); });
  }
  return sources;
}

Status pad_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  RK_ASSIGN(const auto sources,
            sources_of(x.shape(), call.input(1), call.has_input(3) ? &call.input(3) : nullptr,
                       call.node.text("mode")));
  move_indexed(x, sources, call.has_input(2) ? call.input(2).data<uint8_t>() : nullptr,
               call.output(0));
  return ok_status();
}

}  // namespace

Result<std::vector<std::vector<int64_t>>> pad_sources(const Node& node) {
  RK_ASSIGN(const auto sources,
            sources_of(node.input(0).shape(), node.input(1).constant(),
                       node.has_input(3) ? &node.input(3).constant() : nullptr, node.text("mode")));
  std::vector<std::vector<int64_t>> lists(sources.size());
  for (size_t axis = 0; axis < sources.size(); ++axis) {
    for (int64_t i = 0; i < node.output().shape()[static_cast<int>(axis)]; ++i)
      lists[axis].push_back(sources[axis](i));
  }
  return lists;
}

OpDef pad() {
  return {
      .name = "Pad",
      .doc = "y = x with elements added (or cut) at both ends of its axes",
      .inputs = {{"x", anything()},
                 {"pads", integers()},
                 {"value", anything().like(0), ArgDef::kOptional},
                 {"axes", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"mode", "constant", "constant, reflect, edge or wrap"}},
      .infer = pad_infer,
      .reference = pad_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
  };
}

}  // namespace rk::ops
