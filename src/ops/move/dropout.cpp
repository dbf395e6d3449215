// SPDX-License-Identifier: Apache-2.0
// Dropout as it is at inference: y = x and a mask of trues. training_mode must not be a constant
// true.
#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status dropout_infer(InferCall& call) {
  if (const Tensor* training = call.constant(2);
      training != nullptr && training->elements() == 1 && training->at_i64(0) != 0) {
    return unsupported(
        "input 2 ('training_mode') is true; only inference is supported. Export the model in "
        "evaluation mode");
  }
  RK_TRY(infer_same_as_input(call));
  return set_output(call, 1, DType::kBool, call.input(0).shape);
}

Status dropout_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  if (call.outputs.size() > 1) {
    uint8_t* mask = call.output(1).mutable_data<uint8_t>();
    std::fill_n(mask, call.output(1).elements(), uint8_t{1});
  }
  return ok_status();
}

}  // namespace

OpDef dropout() {
  return {
      .name = "Dropout",
      .doc = "y = x, mask = true everywhere",
      .inputs = {{"x", anything()},
                 {"ratio", floats(), ArgDef::kOptional},
                 {"training_mode", booleans(), ArgDef::kOptional}},
      .outputs = {{"y"}, {"mask", ArgDef::kOptional}},
      .attrs = {{"seed", int64_t{0}, "unused at inference", AttrDef::kOptional}},
      .infer = dropout_infer,
      .reference = dropout_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
  };
}

}  // namespace rk::ops
