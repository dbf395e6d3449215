// SPDX-License-Identifier: Apache-2.0
// Size: the number of elements of x, a scalar. Shapes are static here, so the result is always
// known.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) { return set_output(call, 0, DType::kI64, Shape{}); }

Status reference(const EvalCall& call) {
  *call.output(0).mutable_data<int64_t>() = call.node.input(0).shape().elements();
  return ok_status();
}

}  // namespace

OpDef size() {
  return {
      .name = "Size",
      .doc = "y = the number of elements of x",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .infer = infer,
      .reference = reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
      .shape_only = true,
  };
}

}  // namespace rk::ops
