// SPDX-License-Identifier: Apache-2.0
// Mod: the remainder of a / b with broadcasting. With fmod 0 (integers only) the sign is the
// divisor's, as in Python; with fmod 1 it is the dividend's, as in C.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status mod_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "fmod", 0, 1));
  if (call.node.i64("fmod") == 0 && is_float(call.input(0).dtype)) {
    return refuse("attribute 'fmod' is 0, expected 1 for dtype ",
                  rk::to_string(call.input(0).dtype));
  }
  return infer_broadcast(call);
}

template <typename T>
T integer_mod(T a, T b, bool sign_of_divisor) {
  if (b == static_cast<T>(-1) && std::is_signed_v<T>) return T{0};  // the quotient may overflow
  const T rest = static_cast<T>(a % b);
  const bool differ = rest != T{0} && (rest < T{0}) != (b < T{0});
  return sign_of_divisor && differ ? static_cast<T>(rest + b) : rest;
}

Status mod_compute(const EvalCall& call) {
  const bool sign_of_divisor = call.node.i64("fmod") == 0;
  bool by_zero = false;
  RK_TRY(binary_number(call, [&](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == T{0}) return by_zero = true, T{0};
      return integer_mod(a, b, sign_of_divisor);
    }
  }));
  if (by_zero) return invalid_argument("integer remainder by zero: input 1 ('b') holds a 0");
  return ok_status();
}

Status mod_reference(const EvalCall& call) { return halves_as_f32(call, mod_compute); }

}  // namespace

OpDef mod() {
  return {
      .name = "Mod",
      .doc = "y = remainder of a / b with broadcasting",
      .inputs = {{"a", numbers()}, {"b", numbers().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"fmod", int64_t{0},
                 "0: sign of the divisor; 1: sign of the dividend, floats too"}},
      .infer = mod_infer,
      .reference = mod_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
