// SPDX-License-Identifier: Apache-2.0
// Sub: y = a - b with broadcasting. Integers wrap.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sub_compute(const EvalCall& call) {
  return binary_number(call, [](auto a, auto b) { return wrap_sub(a, b); });
}

Status sub_reference(const EvalCall& call) { return halves_as_f32(call, sub_compute); }

}  // namespace

OpDef sub() {
  return {
      .name = "Sub",
      .doc = "y = a - b with broadcasting",
      .inputs = {{"a", numbers()}, {"b", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = sub_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
