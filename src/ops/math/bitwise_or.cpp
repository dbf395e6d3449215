// SPDX-License-Identifier: Apache-2.0
// BitwiseOr: or of the bits of two integer tensors, with broadcasting.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status bitwise_or_reference(const EvalCall& call) {
  return bitwise_binary(call, [](auto a, auto b) { return a | b; });
}

}  // namespace

OpDef bitwise_or() {
  return {
      .name = "BitwiseOr",
      .doc = "y = or of the bits of a and b, with broadcasting",
      .inputs = {{"a", integers()}, {"b", integers().like(0)}},
      .outputs = {{"y"}},
      .infer = infer_bitwise,
      .reference = bitwise_or_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
