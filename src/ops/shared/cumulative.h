// SPDX-License-Identifier: Apache-2.0
// What CumSum and CumProd share: running results along an axis that is an input.
#pragma once

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {

inline Status infer_cumulative(InferCall& call) {
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

// `combine(so far, x)`, begun with `start`; floats in double, integers modulo 2^64.
template <typename Combine>
Status accumulate_along(const EvalCall& call, int start, Combine combine) {
  RK_ASSIGN(const int axis, normalize_axis(call.input(1).at_i64(0), call.input(0).shape().rank()));
  if (call.output(0).elements() == 0) return ok_status();
  const bool exclusive = call.node.i64("exclusive") != 0;
  const bool reverse = call.node.i64("reverse") != 0;
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    const AxisSplit split = split_at(call.input(0).shape(), axis);
    const T* x = call.input(0).data<T>();
    T* y = call.output(0).mutable_data<T>();
    for (int64_t i = 0; i < split.outer * split.inner; ++i) {
      const int64_t first = i / split.inner * split.extent * split.inner + i % split.inner;
      Sum so_far = static_cast<Sum>(start);
      for (int64_t n = 0; n < split.extent; ++n) {
        const int64_t at = first + (reverse ? split.extent - 1 - n : n) * split.inner;
        const Sum next = combine(so_far, static_cast<Sum>(x[at]));
        y[at] = static_cast<T>(exclusive ? so_far : next);
        so_far = next;
      }
    }
    return ok_status();
  });
}

inline std::vector<AttrDef> cumulative_attrs() {
  return {{"exclusive", int64_t{0}, "1: without the element itself"},
          {"reverse", int64_t{0}, "1: from the end"}};
}

}  // namespace rk::ops
