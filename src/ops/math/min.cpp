// SPDX-License-Identifier: Apache-2.0
// Min: the smallest of all inputs, with broadcasting.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status min_compute(const EvalCall& call) {
  // A NaN anywhere wins, as in numpy.
  return fold_number(call, [](auto so_far, auto next) {
    return so_far < next || so_far != so_far ? so_far : next;
  });
}

Status min_reference(const EvalCall& call) { return halves_as_f32(call, min_compute); }

}  // namespace

OpDef min() {
  return {
      .name = "Min",
      .doc = "y = smallest of all inputs, with broadcasting",
      .inputs = {{"inputs", numbers().like(0), ArgDef::kVariadic}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = min_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
