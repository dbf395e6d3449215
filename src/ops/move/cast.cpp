// SPDX-License-Identifier: Apache-2.0
// Cast: another dtype. Floats truncate towards zero and saturate into integers; integers wrap into
// narrower ones. Into 8-bit floats values saturate or not, as 'saturate' says.
#include "base/small_float.h"
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status cast_infer(InferCall& call) {
  const auto dtype = dtype_from_onnx(call.node.i64("to"));
  if (!dtype) {
    return unsupported(
        str("attribute 'to' is ", call.node.i64("to"), ", which is no supported dtype"));
  }
  RK_TRY(require_one_of(call.node, "round_mode", {"up", "down", "nearest"}));
  return set_output(call, 0, *dtype, call.input(0).shape);
}

void cast_to_powers(const EvalCall& call) {
  const std::string& mode = call.node.text("round_mode");
  const PowerRounding rounding = mode == "up"     ? PowerRounding::kUp
                                 : mode == "down" ? PowerRounding::kDown
                                                  : PowerRounding::kNearest;
  const bool saturate = call.node.i64("saturate") != 0;
  uint8_t* to = call.output(0).mutable_data<uint8_t>();
  for (int64_t i = 0; i < call.input(0).elements(); ++i) {
    to[i] = float_to_power(call.input(0).at_f64(i), saturate, rounding);
  }
}

Status cast_reference(const EvalCall& call) {
  const DType from = call.input(0).dtype(), dtype = call.output(0).dtype();
  if (dtype == DType::kF8E8M0 && from != dtype) {
    cast_to_powers(call);
    return ok_status();
  }
  if (is_small_float(dtype) && from != dtype && call.node.i64("saturate") == 0) {
    uint8_t* to = call.output(0).mutable_data<uint8_t>();
    for (int64_t i = 0; i < call.input(0).elements(); ++i) {
      store_unsaturated(dtype, to + i, call.input(0).at_f64(i));
    }
    return ok_status();
  }
  copy_bytes(call.input(0).cast(call.output(0).dtype()), call.output(0));
  return ok_status();
}

}  // namespace

OpDef cast() {
  return {
      .name = "Cast",
      .doc = "y = x in another dtype",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .attrs =
          {{"to", int64_t{1}, "the dtype, numbered as in ONNX", AttrDef::kRequired},
           {"saturate", int64_t{1},
            "8-bit floats: what is too large becomes the largest number, else infinity or NaN"},
           {"round_mode", std::string("up"), "to f8e8m0: up, down or nearest"}},
      .infer = cast_infer,
      .reference = cast_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
