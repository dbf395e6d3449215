// SPDX-License-Identifier: Apache-2.0
// LessOrEqual: a <= b as bool, with broadcasting. Comparing with NaN gives false.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status less_or_equal_compute(const EvalCall& call) {
  return compare_numbers(call, [](auto a, auto b) { return a <= b; });
}

Status less_or_equal_reference(const EvalCall& call) {
  return halves_as_f32(call, less_or_equal_compute);
}

}  // namespace

OpDef less_or_equal() {
  return {
      .name = "LessOrEqual",
      .doc = "y = a <= b with broadcasting",
      .inputs = {{"a", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool})},
                 {"b", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool}).like(0)}},
      .outputs = {{"y"}},
      .infer = infer_compare,
      .reference = less_or_equal_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
