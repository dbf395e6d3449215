// SPDX-License-Identifier: Apache-2.0
// Xor: logical exclusive or of bool tensors, with broadcasting. The file is not xor.cpp because
// `xor` is a C++ keyword.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status logical_xor_reference(const EvalCall& call) {
  return logical_binary(call, [](bool a, bool b) { return a != b; });
}

}  // namespace

OpDef logical_xor() {
  return {
      .name = "Xor",
      .doc = "y = a xor b with broadcasting",
      .inputs = {{"a", booleans()}, {"b", booleans()}},
      .outputs = {{"y"}},
      .infer = infer_logical,
      .reference = logical_xor_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
