// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along one axis, which is an input. exclusive leaves out the element itself;
// reverse runs from the end.
#include "ops/data_move.h"
#include "ops/elementwise.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) {
  RK_TRY(require_number(call, 0));
  RK_TRY(require_index(call, 1));
  if (call.input(1).shape.elements() != 1) {
    return refuse("input 1 ('axis') is ", rk::to_string(call.input(1)), ", expected one element");
  }
  if (const Tensor* axis = call.constant(1)) {
    RK_TRY(normalize_axis(axis->at_i64(0), call.input(0).shape.rank()).status());
  }
  return infer_same_as_input(call);
}

Status compute(const EvalCall& call) {
  RK_ASSIGN(const int axis, normalize_axis(call.input(1).at_i64(0), call.input(0).shape().rank()));
  const bool exclusive = call.node.i64("exclusive") != 0;
  const bool reverse = call.node.i64("reverse") != 0;
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    const AxisSplit split = split_at(call.input(0).shape(), axis);
    const T* x = call.input(0).data<T>();
    T* y = call.output(0).mutable_data<T>();
    for (int64_t i = 0; i < split.outer * split.inner; ++i) {
      const int64_t start = i / split.inner * split.extent * split.inner + i % split.inner;
      Sum sum = 0;
      for (int64_t n = 0; n < split.extent; ++n) {
        const int64_t at = start + (reverse ? split.extent - 1 - n : n) * split.inner;
        const Sum next = wrap_add(sum, static_cast<Sum>(x[at]));
        y[at] = static_cast<T>(exclusive ? sum : next);
        sum = next;
      }
    }
    return ok_status();
  });
}

Status reference(const EvalCall& call) { return halves_as_f32(call, compute); }

}  // namespace

OpDef cum_sum() {
  return {
      .name = "CumSum",
      .doc = "y = running sum of x along an axis",
      .inputs = {{"x"}, {"axis"}},
      .outputs = {{"y"}},
      .attrs = {{"exclusive", int64_t{0}, "1: without the element itself"},
                {"reverse", int64_t{0}, "1: from the end"}},
      .infer = infer,
      .reference = reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
      .layout = LayoutRule::kFixed,
  };
}

}  // namespace rk::ops
