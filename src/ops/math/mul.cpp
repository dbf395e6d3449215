// SPDX-License-Identifier: Apache-2.0
// Mul: y = a * b with broadcasting. Integers wrap.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status mul_compute(const EvalCall& call) {
  return binary_number(call, [](auto a, auto b) { return wrap_mul(a, b); });
}

Status mul_reference(const EvalCall& call) { return halves_as_f32(call, mul_compute); }

}  // namespace

OpDef mul() {
  return {
      .name = "Mul",
      .doc = "y = a * b with broadcasting",
      .inputs = {{"a", numbers()}, {"b", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = mul_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
