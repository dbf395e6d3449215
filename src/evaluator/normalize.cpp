// SPDX-License-Identifier: Apache-2.0
#include "evaluator/normalize.h"

#include <algorithm>

#include "ir/graph.h"
#include "kernels/norm/norm.h"
#include "ops/shared/data_move.h"
#include "ops/shared/reduce.h"

namespace rk::evaluator {
namespace {

// Rows that are worth a thread's start together.
int64_t grain_of(int64_t length) {
  return std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, length));
}

void normalize(const EvalCall& call, const kernels::NormalizeArgs& args) {
  call.parallel_for(call.output(0).elements() / args.length, grain_of(args.length),
                    [&](IndexRange rows) { kernels::normalize_rows_f32(args, rows); });
}

kernels::NormalizeArgs normalize_args(const EvalCall& call) {
  kernels::NormalizeArgs args;
  args.input = call.input(0).data<float>();
  args.output = call.output(0).mutable_data<float>();
  args.scale = call.input(1).data<float>();
  if (call.has_input(2)) args.bias = call.input(2).data<float>();
  args.epsilon = call.node.f32("epsilon");
  return args;
}

// Elements from the node's axis on.
int64_t normalized_length(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t axis = call.node.i64("axis");
  return ops::extent_product(in, static_cast<int>(axis < 0 ? axis + in.rank() : axis), in.rank());
}

// The parameter is what each row has, without broadcasting.
bool is_row_of(const Tensor& parameter, const Shape& in, int64_t length) {
  if (parameter.elements() != length) return false;
  const Shape& shape = parameter.shape();
  for (int i = 1; i <= shape.rank(); ++i) {
    const int64_t extent = i <= in.rank() ? in[in.rank() - i] : 1;
    if (shape[shape.rank() - i] != extent && shape[shape.rank() - i] != 1) return false;
  }
  return true;
}

Status row_sum(const EvalCall& call, kernels::RowSum kind) {
  const int64_t rows = call.output(0).elements(), length = call.input(0).elements() / rows;
  const kernels::RowSumArgs args = {call.input(0).data<float>(),
                                    call.output(0).mutable_data<float>(), length, kind};
  call.parallel_for(rows, grain_of(length),
                    [&](IndexRange range) { kernels::sum_rows_f32(args, range); });
  return ok_status();
}

}  // namespace

bool takes_softmax(const EvalCall&) { return true; }

Status run_softmax(const EvalCall& call) {
  const Shape& shape = call.input(0).shape();
  RK_ASSIGN(const int axis, ops::normalize_axis(call.node.i64("axis"), shape.rank()));
  const ops::AxisSplit split = ops::split_at(shape, axis);
  const kernels::SoftmaxArgs args = {call.input(0).data<float>(),
                                     call.output(0).mutable_data<float>(), split.outer,
                                     split.extent, split.inner};
  const int64_t columns = std::min(split.inner, kernels::kSoftmaxColumns);
  call.parallel_for(kernels::softmax_units(args), grain_of(4 * split.extent * columns),
                    [&](IndexRange units) { kernels::softmax_f32(args, units); });
  return ok_status();
}

bool takes_layer_norm(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t length = normalized_length(call);
  return is_row_of(call.input(1), in, length) &&
         (!call.has_input(2) || is_row_of(call.input(2), in, length));
}

Status run_layer_norm(const EvalCall& call) {
  kernels::NormalizeArgs args = normalize_args(call);
  args.length = normalized_length(call);
  if (call.outputs.size() > 1) args.mean = call.output(1).mutable_data<float>();
  if (call.outputs.size() > 2) args.inverse_deviation = call.output(2).mutable_data<float>();
  normalize(call, args);
  return ok_status();
}

Status run_rms_norm(const EvalCall& call) {
  kernels::NormalizeArgs args = normalize_args(call);
  args.length = normalized_length(call);
  args.centered = false;
  normalize(call, args);
  return ok_status();
}

bool takes_channel_norm(const EvalCall& call) { return call.input(0).shape().rank() >= 2; }

Status run_instance_norm(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  kernels::NormalizeArgs args = normalize_args(call);
  args.length = args.run = ops::extent_product(in, 2, in.rank());
  args.groups = in[1];
  normalize(call, args);
  return ok_status();
}

Status run_group_norm(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  kernels::NormalizeArgs args = normalize_args(call);
  args.groups = call.node.i64("num_groups");
  args.run = ops::extent_product(in, 2, in.rank());
  args.length = in[1] / args.groups * args.run;
  normalize(call, args);
  return ok_status();
}

bool takes_row_sum(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const auto kept = ops::kept_shape(call);
  if (!kept.ok() || in.elements() == 0) return false;
  // Up to some axis everything is kept, from there on nothing is.
  int axis = 0;
  while (axis < in.rank() && kept.value()[axis] == in[axis]) ++axis;
  for (; axis < in.rank(); ++axis) {
    if (kept.value()[axis] != 1) return false;
  }
  return true;
}

Status run_reduce_sum(const EvalCall& call) { return row_sum(call, kernels::RowSum::kSum); }
Status run_reduce_mean(const EvalCall& call) { return row_sum(call, kernels::RowSum::kMean); }
Status run_reduce_l2(const EvalCall& call) {
  return row_sum(call, kernels::RowSum::kRootOfSquares);
}
Status run_reduce_sum_square(const EvalCall& call) {
  return row_sum(call, kernels::RowSum::kSquares);
}

}  // namespace rk::evaluator
