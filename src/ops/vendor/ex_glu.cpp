// SPDX-License-Identifier: Apache-2.0
// exGlu: the first half of x along an axis, gated by the sigmoid of the second half. The vendor's
// name; ONNX writes it as Split, Sigmoid and Mul.
#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

Status ex_glu_infer(InferCall& call) {
  Shape out = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), out.rank()));
  if (out[axis] % 2 != 0)
    return refuse("axis ", axis, " has ", out[axis], " elements, expected an even number");
  out[axis] /= 2;
  return set_output(call, 0, call.input(0).dtype, out);
}

Status ex_glu_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  if (call.output(0).elements() == 0) return ok_status();
  const int64_t half = extent_product(in, axis, in.rank()) / 2;
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  for (int64_t outer = 0; outer < extent_product(in, 0, axis); ++outer) {
    for (int64_t i = 0; i < half; ++i) y[i] = x[i] * sigmoid_of(x[half + i]);
    x += 2 * half;
    y += half;
  }
  return ok_status();
}

Status ex_glu_reference(const EvalCall& call) { return in_f32(call, ex_glu_compute); }

}  // namespace

OpDef ex_glu() {
  return {
      .name = "exGlu",
      .doc = "y = first half of x * sigmoid(second half of x), halves along an axis",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{1}, "axis that is halved; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = ex_glu_infer,
      .reference = ex_glu_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
