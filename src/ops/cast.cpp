// SPDX-License-Identifier: Apache-2.0
// Cast: another dtype. Floats truncate towards zero and saturate into integers; integers wrap into
// narrower ones.
#include "ops/data_move.h"
#include "ops/elementwise.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) {
  const auto dtype = dtype_from_onnx(call.node.i64("to"));
  if (!dtype) {
    return unsupported(
        str("attribute 'to' is ", call.node.i64("to"), ", which is no supported dtype"));
  }
  return set_output(call, 0, *dtype, call.input(0).shape);
}

Status reference(const EvalCall& call) {
  copy_bytes(call.input(0).cast(call.output(0).dtype()), call.output(0));
  return ok_status();
}

}  // namespace

OpDef cast() {
  return {
      .name = "Cast",
      .doc = "y = x in another dtype",
      .inputs = {{"x"}},
      .outputs = {{"y"}},
      .attrs = {{"to", int64_t{1}, "the dtype, numbered as in ONNX", AttrDef::kRequired},
                {"saturate", int64_t{1}, "only for 8-bit floats, which are not supported"}},
      .infer = infer,
      .reference = reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
      .layout = LayoutRule::kAny,
  };
}

}  // namespace rk::ops
