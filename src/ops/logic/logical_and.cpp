// SPDX-License-Identifier: Apache-2.0
// And: logical and of bool tensors, with broadcasting. The file is not and.cpp because `and` is a
// C++ keyword.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status logical_and_reference(const EvalCall& call) {
  return logical_binary(call, [](bool a, bool b) { return a && b; });
}

}  // namespace

OpDef logical_and() {
  return {
      .name = "And",
      .doc = "y = a and b with broadcasting",
      .inputs = {{"a", booleans()}, {"b", booleans()}},
      .outputs = {{"y"}},
      .infer = infer_logical,
      .reference = logical_and_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
