// SPDX-License-Identifier: Apache-2.0
// Identity: y = x. Any dtype; removed by the passes.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status identity_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  return ok_status();
}

}  // namespace

OpDef identity() {
  return {
      .name = "Identity",
      .doc = "y = x",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .infer = infer_same_as_input,
      .reference = identity_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kView,
  };
}

}  // namespace rk::ops
