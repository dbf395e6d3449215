// SPDX-License-Identifier: Apache-2.0
// BitwiseAnd: and of the bits of two integer tensors, with broadcasting.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status bitwise_and_reference(const EvalCall& call) {
  return bitwise_binary(call, [](auto a, auto b) { return a & b; });
}

}  // namespace

OpDef bitwise_and() {
  return {
      .name = "BitwiseAnd",
      .doc = "y = and of the bits of a and b, with broadcasting",
      .inputs = {{"a", integers()}, {"b", integers().like(0)}},
      .outputs = {{"y"}},
      .infer = infer_bitwise,
      .reference = bitwise_and_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
