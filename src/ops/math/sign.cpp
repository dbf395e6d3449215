// SPDX-License-Identifier: Apache-2.0
// Sign: -1, 0 or 1. Elementwise, any rank; integers too.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status sign_compute(const EvalCall& call) {
  return map_number(call.input(0), call.output(0), [](auto x) {
    using T = decltype(x);
    return static_cast<T>((x > T{0}) - (x < T{0}));
  });
}

Status sign_reference(const EvalCall& call) { return halves_as_f32(call, sign_compute); }

}  // namespace

OpDef sign() {
  return {
      .name = "Sign",
      .doc = "y = -1, 0 or 1, the sign of x",
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}},
      .infer = infer_number_same_as_input,
      .reference = sign_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
