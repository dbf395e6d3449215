// SPDX-License-Identifier: Apache-2.0
// Max: the largest of all inputs, with broadcasting.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status max_compute(const EvalCall& call) {
  // A NaN anywhere wins, as in numpy.
  return fold_number(call, [](auto so_far, auto next) {
    return so_far > next || so_far != so_far ? so_far : next;
  });
}

Status max_reference(const EvalCall& call) { return halves_as_f32(call, max_compute); }

}  // namespace

OpDef max() {
  return {
      .name = "Max",
      .doc = "y = largest of all inputs, with broadcasting",
      .inputs = {{"inputs", numbers().like(0), ArgDef::kVariadic}},
      .outputs = {{"y"}},
      .infer = infer_broadcast,
      .reference = max_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
