// SPDX-License-Identifier: Apache-2.0
// Not: logical negation of a bool tensor. The file is not not.cpp because `not` is a C++ keyword.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status logical_not_infer(InferCall& call) { return infer_same_as_input(call); }

Status logical_not_reference(const EvalCall& call) {
  const uint8_t* x = call.input(0).data<uint8_t>();
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (int64_t i = 0; i < call.input(0).elements(); ++i) y[i] = x[i] == 0;
  return ok_status();
}

}  // namespace

OpDef logical_not() {
  return {
      .name = "Not",
      .doc = "y = not x",
      .inputs = {{"x", booleans()}},
      .outputs = {{"y"}},
      .infer = logical_not_infer,
      .reference = logical_not_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
