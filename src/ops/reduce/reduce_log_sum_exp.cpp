// SPDX-License-Identifier: Apache-2.0
// ReduceLogSumExp: log(sum of exp(x)), kept relative to the largest x so that nothing overflows.
#include <cmath>

#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_log_sum_exp_compute(const EvalCall& call) {
  struct State {
    double most = -INFINITY;
    double sum = 0;  // of exp(x - most)
  };
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    return reduce_as<T, State>(
        call, State{},
        [](State state, T element) {
          const auto x = static_cast<double>(element);
          if (x == -INFINITY) return state;
          if (x <= state.most)
            return State{state.most,
                         state.sum + (x == state.most ? 1.0 : std::exp(x - state.most))};
          return State{x, state.sum * std::exp(state.most - x) + 1.0};
        },
        [&](const State& state, int64_t) {
          T out{};
          store_f64(call.output(0).dtype(), reinterpret_cast<uint8_t*>(&out),
                    state.most + std::log(state.sum));
          return out;
        });
  });
}

Status reduce_log_sum_exp_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_log_sum_exp_compute);
}

}  // namespace

OpDef reduce_log_sum_exp() {
  return reduce_def("ReduceLogSumExp", "y = logarithm of the sum of exponentials over the axes",
                    reduce_log_sum_exp_reference);
}

}  // namespace rk::ops
