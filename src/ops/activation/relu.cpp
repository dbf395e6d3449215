// SPDX-License-Identifier: Apache-2.0
// Relu: y = max(x, 0). Elementwise, any rank; integers too. NaN stays NaN.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status relu_compute(const EvalCall& call) {
  return map_number(call.input(0), call.output(0), [](auto x) {
    using T = decltype(x);
    return x < T{0} ? T{0} : x;
  });
}

Status relu_reference(const EvalCall& call) { return halves_as_f32(call, relu_compute); }

}  // namespace

OpDef relu() {
  return {
      .name = "Relu",
      .doc = "y = max(x, 0)",
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}},
      .infer = infer_number_same_as_input,
      .reference = relu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
      .homogeneous = true,
  };
}

}  // namespace rk::ops
