// SPDX-License-Identifier: Apache-2.0
// PRelu: LeakyRelu with a learned slope that broadcasts to x. A slope per channel of NCHW is
// [C,1,1], not [C].
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status p_relu_infer(InferCall& call) {
  RK_ASSIGN(const Shape shape, broadcast_shapes(call.input(0).shape, call.input(1).shape));
  if (!(shape == call.input(0).shape)) {
    return refuse("slope ", rk::to_string(call.input(1).shape), " does not broadcast to x ",
                  rk::to_string(call.input(0).shape), "; per channel it is [C,1,1]");
  }
  return infer_same_as_input(call);
}

Status p_relu_compute(const EvalCall& call) {
  return binary_number(
      call, [](auto x, auto slope) { return x < decltype(x){0} ? wrap_mul(x, slope) : x; });
}

Status p_relu_reference(const EvalCall& call) { return halves_as_f32(call, p_relu_compute); }

}  // namespace

OpDef p_relu() {
  return {
      .name = "PRelu",
      .doc = "y = x where x >= 0, slope * x elsewhere",
      .inputs = {{"x", numbers()}, {"slope", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = p_relu_infer,
      .reference = p_relu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
