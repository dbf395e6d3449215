// SPDX-License-Identifier: Apache-2.0
// BitShift: a shifted by b bits, unsigned, with broadcasting. Shifting by the width or more gives 0;
// the language leaves that open.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status bit_shift_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "direction", {"LEFT", "RIGHT"}));
  return infer_bitwise(call);
}

Status bit_shift_reference(const EvalCall& call) {
  const bool left = call.node.text("direction") == "LEFT";
  return bitwise_binary(call, [left](auto a, auto bits) -> uint64_t {
    if (bits >= 8 * sizeof(a)) return 0;
    return left ? static_cast<uint64_t>(a) << bits : static_cast<uint64_t>(a) >> bits;
  });
}

}  // namespace

OpDef bit_shift() {
  return {
      .name = "BitShift",
      .doc = "y = a shifted left or right by b bits, with broadcasting",
      .inputs = {{"a", integers()}, {"b", integers().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"direction", "", "'LEFT' or 'RIGHT'", AttrDef::kRequired}},
      .infer = bit_shift_infer,
      .reference = bit_shift_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
