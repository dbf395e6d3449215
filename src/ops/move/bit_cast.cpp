// SPDX-License-Identifier: Apache-2.0
// BitCast: the same bytes read as another dtype of the same width. Cast converts the values instead.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status bit_cast_infer(InferCall& call) {
  const auto to = dtype_from_onnx(call.node.i64("to"));
  if (!to) return refuse("attribute 'to' is ", call.node.i64("to"), ", which is no known dtype");
  if (byte_size(*to) != byte_size(call.input(0).dtype)) {
    return refuse("input 0 ('x') is ", rk::to_string(call.input(0)), " and attribute 'to' is ",
                  rk::to_string(*to), "; the dtypes must be of the same width");
  }
  return set_output(call, 0, *to, call.input(0).shape);
}

Status bit_cast_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  return ok_status();
}

}  // namespace

OpDef bit_cast() {
  return {
      .name = "BitCast",
      .doc = "y = the bytes of x as another dtype of the same width",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"to", int64_t{0}, "ONNX number of the dtype", AttrDef::kRequired}},
      .infer = bit_cast_infer,
      .reference = bit_cast_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
