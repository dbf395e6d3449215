// SPDX-License-Identifier: Apache-2.0
// MatMul: matrix product over the last two axes, leading axes broadcast as in numpy. A vector on
// the left is a row, on the right a column; the axis it lacks is missing in the output too.
#include <algorithm>

#include "ops/shared/matmul_core.h"

namespace rk::ops {
namespace {

struct Plan {
  int64_t rows = 1;
  int64_t depth = 1;
  int64_t columns = 1;
  Shape a_batch;
  Shape b_batch;
  Shape batch;
};

Result<Plan> plan_for(const Shape& a, const Shape& b) {
  if (a.rank() < 1 || b.rank() < 1) {
    return refuse("inputs are ", to_string(a), " and ", to_string(b), ", expected rank 1 or more");
  }
  Plan plan;
  plan.rows = a.rank() == 1 ? 1 : a[a.rank() - 2];
  plan.depth = a[a.rank() - 1];
  const int64_t b_depth = b.rank() == 1 ? b[0] : b[b.rank() - 2];
  plan.columns = b.rank() == 1 ? 1 : b[b.rank() - 1];
  if (plan.depth != b_depth) {
    return refuse("inputs ", to_string(a), " and ", to_string(b), " do not fit: inner extents ",
                  plan.depth, " and ", b_depth, " differ");
  }
  const auto leading = [](const Shape& s) {
    return Shape::make(s.dims().first(static_cast<size_t>(std::max(0, s.rank() - 2))));
  };
  RK_ASSIGN(plan.a_batch, leading(a));
  RK_ASSIGN(plan.b_batch, leading(b));
  RK_ASSIGN(plan.batch, broadcast_shapes(plan.a_batch, plan.b_batch));
  return plan;
}

Status mat_mul_infer(InferCall& call) {
  const Shape& a = call.input(0).shape;
  const Shape& b = call.input(1).shape;
  RK_ASSIGN(const Plan plan, plan_for(a, b));
  std::vector<int64_t> dims(plan.batch.dims().begin(), plan.batch.dims().end());
  if (a.rank() > 1) dims.push_back(plan.rows);
  if (b.rank() > 1) dims.push_back(plan.columns);
  return set_output(call, 0, call.input(0).dtype, dims);
}

template <typename T>
Status multiply(const EvalCall& call) {
  RK_ASSIGN(const Plan plan, plan_for(call.input(0).shape(), call.input(1).shape()));
  const int64_t batches = plan.batch.elements();
  if (call.output(0).elements() == 0) return ok_status();
  std::vector<std::array<int64_t, 2>> starts;  // in matrices, per batch
  starts.reserve(static_cast<size_t>(batches));
  for_each_row<2>(
      plan.batch,
      {broadcast_strides(plan.a_batch, plan.batch), broadcast_strides(plan.b_batch, plan.batch)},
      [&](const auto& offsets, const auto& steps, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          starts.push_back({offsets[0] + i * steps[0], offsets[1] + i * steps[1]});
        }
      });
  const T* a = call.input(0).data<T>();
  const T* b = call.input(1).data<T>();
  T* y = call.output(0).mutable_data<T>();
  call.parallel_for(batches * plan.rows, 1, [&](IndexRange range) {
    std::vector<SumOf<T>> sums(static_cast<size_t>(plan.columns));
    for (int64_t i = range.begin; i < range.end; ++i) {
      const auto [a_matrix, b_matrix] = starts[static_cast<size_t>(i / plan.rows)];
      multiply_row<T>({a + a_matrix * plan.rows * plan.depth, plan.depth, 1}, i % plan.rows,
                      {b + b_matrix * plan.depth * plan.columns, plan.columns, 1}, plan.depth,
                      sums);
      std::ranges::transform(sums, y + i * plan.columns,
                             [](auto sum) { return static_cast<T>(sum); });
    }
  });
  return ok_status();
}

Status mat_mul_compute(const EvalCall& call) {
  return with_number_type(call.input(0).dtype(),
                          [&](auto tag) { return multiply<decltype(tag)>(call); });
}

Status mat_mul_reference(const EvalCall& call) { return halves_as_f32(call, mat_mul_compute); }

Cost mat_mul_cost(const Node& node) {
  const Shape& a = node.input(0).shape();
  const auto outputs = static_cast<uint64_t>(node.output().shape().elements());
  return {.macs = outputs * static_cast<uint64_t>(a[a.rank() - 1])};
}

}  // namespace

OpDef mat_mul() {
  return {
      .name = "MatMul",
      .doc = "y = matrix product over the last two axes, leading axes broadcast",
      .inputs = {{"a", numbers()}, {"b", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = mat_mul_infer,
      .reference = mat_mul_reference,
      .cost = mat_mul_cost,
      .quant = QuantRule::kAccumulate,
      .weight_axis = [](const Node& node) { return node.input(1).shape().rank() == 2 ? 1 : -1; },
  };
}

}  // namespace rk::ops
