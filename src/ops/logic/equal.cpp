// SPDX-License-Identifier: Apache-2.0
// Equal: a == b as bool, with broadcasting; bool inputs too.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status equal_compute(const EvalCall& call) {
  return compare_numbers(call, [](auto a, auto b) { return a == b; });
}

Status equal_reference(const EvalCall& call) { return halves_as_f32(call, equal_compute); }

}  // namespace

OpDef equal() {
  return {
      .name = "Equal",
      .doc = "y = a == b with broadcasting",
      .inputs = {{"a", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool})},
                 {"b", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool}).like(0)}},
      .outputs = {{"y"}},
      .infer = infer_compare,
      .reference = equal_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
