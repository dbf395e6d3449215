// SPDX-License-Identifier: Apache-2.0
// Div: y = a / b with broadcasting. Integers truncate towards zero; an integer divisor of zero is
// an error, a float one gives infinity or NaN.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status div_compute(const EvalCall& call) {
  bool by_zero = false;
  RK_TRY(binary_number(call, [&](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == T{0}) return by_zero = true, T{0};
      if (b == static_cast<T>(-1))
        return std::is_signed_v<T> ? wrap_sub(T{0}, a) : static_cast<T>(a / b);
      return static_cast<T>(a / b);
    }
  }));
  if (by_zero) return invalid_argument("integer division by zero: input 1 ('b') holds a 0");
  return ok_status();
}

Status div_reference(const EvalCall& call) { return halves_as_f32(call, div_compute); }

}  // namespace

OpDef div() {
  return {
      .name = "Div",
      .doc = "y = a / b with broadcasting; integers truncate",
      .inputs = {{"a", numbers()}, {"b", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = div_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
