// SPDX-License-Identifier: Apache-2.0
// Add: y = a + b with broadcasting. Integers wrap.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status add_compute(const EvalCall& call) {
  return binary_number(call, [](auto a, auto b) { return wrap_add(a, b); });
}

Status add_reference(const EvalCall& call) { return halves_as_f32(call, add_compute); }

}  // namespace

OpDef add() {
  return {
      .name = "Add",
      .doc = "y = a + b with broadcasting",
      .inputs = {{"a", numbers()}, {"b", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = add_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
