// SPDX-License-Identifier: Apache-2.0
// Or: logical or of bool tensors, with broadcasting. The file is not or.cpp because `or` is a C++
// keyword.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status logical_or_reference(const EvalCall& call) {
  return logical_binary(call, [](bool a, bool b) { return a || b; });
}

}  // namespace

OpDef logical_or() {
  return {
      .name = "Or",
      .doc = "y = a or b with broadcasting",
      .inputs = {{"a", booleans()}, {"b", booleans()}},
      .outputs = {{"y"}},
      .infer = infer_logical,
      .reference = logical_or_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
