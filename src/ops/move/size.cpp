// SPDX-License-Identifier: Apache-2.0
// Size: the number of elements of x, a scalar. Shapes are static here, so the result is always
// known.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status size_infer(InferCall& call) { return set_output(call, 0, DType::kI64, Shape{}); }

Status size_reference(const EvalCall& call) {
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
      .infer = size_infer,
      .reference = size_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
      .shape_only = true,
  };
}

}  // namespace rk::ops
