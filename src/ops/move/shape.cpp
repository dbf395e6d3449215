// SPDX-License-Identifier: Apache-2.0
// Shape: the extents of x, or those of axes start..end. Shapes are static here, so the result is
// always known.
#include <algorithm>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

// Unlike other axes these are clamped, not refused.
IndexRange axis_range(const Node& node, int64_t rank) {
  const auto clamped = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t begin = clamped(node.i64("start"));
  const int64_t end = node.has_attr("end") ? clamped(node.i64("end")) : rank;
  return {begin, std::max(begin, end)};
}

Status shape_infer(InferCall& call) {
  const IndexRange axes = axis_range(call.node, call.input(0).shape.rank());
  return set_output(call, 0, DType::kI64, std::array{axes.end - axes.begin});
}

Status shape_reference(const EvalCall& call) {
  const Shape& in = call.node.input(0).shape();
  const IndexRange axes = axis_range(call.node, in.rank());
  int64_t* to = call.output(0).mutable_data<int64_t>();
  for (int64_t axis = axes.begin; axis < axes.end; ++axis) *to++ = in[static_cast<int>(axis)];
  return ok_status();
}

}  // namespace

OpDef shape() {
  return {
      .name = "Shape",
      .doc = "y = the extents of x",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"start", int64_t{0}, "first axis; negative counts from the end"},
                {"end", int64_t{0}, "axis after the last; the rank where not given",
                 AttrDef::kOptional}},
      .infer = shape_infer,
      .reference = shape_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
      .shape_only = true,
  };
}

}  // namespace rk::ops
