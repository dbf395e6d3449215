// SPDX-License-Identifier: Apache-2.0
// Greater: a > b as bool, with broadcasting. Comparing with NaN gives false.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status greater_compute(const EvalCall& call) {
  return compare_numbers(call, [](auto a, auto b) { return a > b; });
}

Status greater_reference(const EvalCall& call) { return halves_as_f32(call, greater_compute); }

}  // namespace

OpDef greater() {
  return {
      .name = "Greater",
      .doc = "y = a > b with broadcasting",
      .inputs = {{"a", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool})},
                 {"b", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool}).like(0)}},
      .outputs = {{"y"}},
      .infer = infer_compare,
      .reference = greater_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
