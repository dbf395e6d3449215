// SPDX-License-Identifier: Apache-2.0
// What the Reduce operators share. Axes are an input (opset 18 form); without axes everything is
// reduced, or nothing with noop_with_empty_axes.
#pragma once

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {

Status infer_reduce(InferCall& call);      // any number dtype
Status infer_reduce_any(InferCall& call);  // bool too
Cost reduce_cost(const Node& node);
// The schema of a reduction, but for its reference.
OpDef reduce_def(std::string_view name, std::string_view doc, Reference reference);

// The shape with reduced axes kept as 1.
Result<Shape> kept_shape(const EvalCall& call);

// A reduction in steps: `start`, then add(state, x) for each element, then finish(state, element
// count). S is the state's type, the same for all dtypes in float reductions and per dtype
// otherwise.
template <typename T, typename S, typename Add, typename Finish>
Status reduce_as(const EvalCall& call, S start, Add add, Finish finish) {
  RK_ASSIGN(const Shape kept, kept_shape(call));
  const Shape& in = call.input(0).shape();
  const T* x = call.input(0).data<T>();
  T* y = call.output(0).mutable_data<T>();
  std::vector<S> states(static_cast<size_t>(kept.elements()), start);
  for_each_row<1>(in, {broadcast_strides(kept, in)},
                  [&](const auto& offsets, const auto& steps, int64_t count) {
                    for (int64_t i = 0; i < count; ++i) {
                      S& state = states[static_cast<size_t>(offsets[0] + i * steps[0])];
                      state = add(state, *x++);
                    }
                  });
  const int64_t each = kept.elements() == 0 ? 0 : in.elements() / kept.elements();
  for (size_t i = 0; i < states.size(); ++i) y[i] = static_cast<T>(finish(states[i], each));
  return ok_status();
}

// Sums and the like: integers exact modulo 2^64, floats in double.
template <typename Add>
Status reduce_numbers(const EvalCall& call, int64_t start, Add add) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    using S = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    return reduce_as<T, S>(
        call, static_cast<S>(start), [&](S state, T x) { return add(state, static_cast<S>(x)); },
        [](S state, int64_t) { return state; });
  });
}

// Where the mathematics is in reals: every dtype through double; integers truncate at the end.
template <typename Add, typename Finish>
Status reduce_reals(const EvalCall& call, Add add, Finish finish) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    return reduce_as<T, double>(
        call, 0.0, [&](double state, T x) { return add(state, static_cast<double>(x)); },
        [&](double state, int64_t count) {
          T out{};
          store_f64(call.output(0).dtype(), reinterpret_cast<uint8_t*>(&out), finish(state, count));
          return out;
        });
  });
}

}  // namespace rk::ops
