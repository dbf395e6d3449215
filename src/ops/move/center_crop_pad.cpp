// SPDX-License-Identifier: Apache-2.0
// CenterCropPad: each axis is cropped or padded with zeros to the wanted extent, around its middle;
// an odd element goes to the end. Any dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

// The wanted extent per axis of x.
Result<std::vector<int64_t>> wanted_extents(const Node& node, std::span<const int64_t> shape) {
  const Shape& in = node.input(0).shape();
  std::vector<int64_t> out(in.dims().begin(), in.dims().end());
  std::vector<int64_t> axes;
  if (node.has_attr("axes")) {
    axes = node.ints("axes");
  } else {
    for (int64_t axis = 0; axis < in.rank(); ++axis) axes.push_back(axis);
  }
  RK_ASSIGN(const std::vector<int> normal, normalize_axes(axes, in.rank()));
  if (shape.size() != normal.size()) {
    return refuse("input 1 ('shape') is ", to_string(shape), ", expected ", normal.size(),
                  " extents, one per axis");
  }
  for (size_t i = 0; i < normal.size(); ++i) out[static_cast<size_t>(normal[i])] = shape[i];
  return out;
}

Status center_crop_pad_infer(InferCall& call) {
  RK_ASSIGN(const std::vector<int64_t> shape, constant_ints(call, 1));
  RK_ASSIGN(const std::vector<int64_t> dims, wanted_extents(call.node, shape));
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status center_crop_pad_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const Shape& out = call.output(0).shape();
  std::vector<AxisSource> sources;
  for (int axis = 0; axis < out.rank(); ++axis) {
    // Floor division in both directions: the odd element is cropped from, or padded at, the end.
    const int64_t shift =
        out[axis] > in[axis] ? -((out[axis] - in[axis]) / 2) : (in[axis] - out[axis]) / 2;
    sources.push_back([shift, extent = in[axis]](int64_t i) {
      const int64_t at = i + shift;
      return at >= 0 && at < extent ? at : -1;
    });
  }
  const uint64_t zero = 0;
  move_indexed(call.input(0), sources, reinterpret_cast<const uint8_t*>(&zero), call.output(0));
  return ok_status();
}

}  // namespace

OpDef center_crop_pad() {
  return {
      .name = "CenterCropPad",
      .doc = "y = x cropped or padded with zeros to a shape, around its middle",
      .inputs = {{"x", anything()}, {"shape", integers()}},
      .outputs = {{"y"}},
      .attrs = {{"axes", std::vector<int64_t>{}, "axes that `shape` speaks of; absent: all",
                 AttrDef::kOptional, AttrDef::kAxisOfInput}},
      .infer = center_crop_pad_infer,
      .reference = center_crop_pad_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
