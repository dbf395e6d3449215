// SPDX-License-Identifier: Apache-2.0
// Slice: a strided part of each axis. Ends may lie far outside (exporters write INT64_MAX); steps
// may be negative, and then an end before the first element is INT64_MIN, because -1 means the last
// one. Any dtype.
#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

struct AxisSlice {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

AxisSlice slice_axis(int64_t extent, int64_t start, int64_t end, int64_t step) {
  // Steps beyond any extent behave alike; the clamp keeps the negation below defined.
  step = std::clamp<int64_t>(step, -(int64_t{1} << 32), int64_t{1} << 32);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  if (extent == 0) return {0, step, 0};
  start = std::clamp<int64_t>(start, 0, extent - 1);
  end = std::clamp<int64_t>(end, -1, extent - 1);
  return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

struct Lists {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> axes;   // empty: 0, 1, ...
  std::vector<int64_t> steps;  // empty: all 1
};

Result<std::vector<AxisSlice>> plan_for(const Shape& in, Lists lists) {
  const size_t count = lists.starts.size();
  if (lists.axes.empty()) {
    for (size_t i = 0; i < count; ++i) lists.axes.push_back(static_cast<int64_t>(i));
  }
  if (lists.steps.empty()) lists.steps.assign(count, 1);
  if (lists.ends.size() != count || lists.axes.size() != count || lists.steps.size() != count) {
    return refuse("inputs 'starts', 'ends', 'axes' and 'steps' have ", count, ", ",
                  lists.ends.size(), ", ", lists.axes.size(), " and ", lists.steps.size(),
                  " values; expected the same number");
  }
  RK_ASSIGN(const std::vector<int> axes, normalize_axes(lists.axes, in.rank()));
  std::vector<AxisSlice> plan;
  for (int axis = 0; axis < in.rank(); ++axis) plan.push_back({0, 1, in[axis]});
  for (size_t i = 0; i < count; ++i) {
    if (lists.steps[i] == 0) return refuse("input 4 ('steps') holds a 0, expected another number");
    plan[static_cast<size_t>(axes[i])] =
        slice_axis(in[axes[i]], lists.starts[i], lists.ends[i], lists.steps[i]);
  }
  return plan;
}

Status slice_infer(InferCall& call) {
  Lists lists;
  RK_ASSIGN(lists.starts, constant_ints(call, 1));
  RK_ASSIGN(lists.ends, constant_ints(call, 2));
  if (call.has_input(3)) {
    RK_ASSIGN(lists.axes, constant_ints(call, 3));
  }
  if (call.has_input(4)) {
    RK_ASSIGN(lists.steps, constant_ints(call, 4));
  }
  RK_ASSIGN(const std::vector<AxisSlice> plan, plan_for(call.input(0).shape, std::move(lists)));
  std::vector<int64_t> dims;
  for (const AxisSlice& axis : plan) dims.push_back(axis.count);
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status slice_reference(const EvalCall& call) {
  Lists lists = {
      .starts = call.input(1).to_i64(), .ends = call.input(2).to_i64(), .axes = {}, .steps = {}};
  if (call.has_input(3)) lists.axes = call.input(3).to_i64();
  if (call.has_input(4)) lists.steps = call.input(4).to_i64();
  RK_ASSIGN(const std::vector<AxisSlice> plan, plan_for(call.input(0).shape(), std::move(lists)));
  if (call.output(0).elements() == 0) return ok_status();
  const Strides own = row_major_strides(call.input(0).shape());
  Strides strides{};
  int64_t offset = 0;
  for (size_t axis = 0; axis < plan.size(); ++axis) {
    offset += plan[axis].start * own[axis];
    // With one element the step is never taken, and may be too large to multiply.
    strides[axis] = plan[axis].count == 1 ? 0 : plan[axis].step * own[axis];
  }
  move_view(call.input(0), offset, strides, call.output(0));
  return ok_status();
}

}  // namespace

OpDef slice() {
  return {
      .name = "Slice",
      .doc = "y = x[start:end:step] on the given axes",
      .inputs = {{"x", anything()},
                 {"starts", integers()},
                 {"ends", integers()},
                 {"axes", integers(), ArgDef::kOptional},
                 {"steps", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .infer = slice_infer,
      .reference = slice_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kSelected,
  };
}

}  // namespace rk::ops
