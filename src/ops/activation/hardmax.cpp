// SPDX-License-Identifier: Apache-2.0
// Hardmax: 1 at the first largest value along an axis, 0 elsewhere.
#include "ops/activation/softmax.h"

#include "ops/shared/data_move.h"

namespace rk::ops {
namespace {

Status hardmax_compute(const EvalCall& call) {
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), call.input(0).shape().rank()));
  const AxisSplit split = split_at(call.input(0).shape(), axis);
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  for (int64_t i = 0; i < split.outer * split.inner; ++i) {
    const int64_t start = i / split.inner * split.extent * split.inner + i % split.inner;
    int64_t best = 0;
    for (int64_t k = 1; k < split.extent; ++k) {
      if (x[start + k * split.inner] > x[start + best * split.inner]) best = k;
    }
    for (int64_t k = 0; k < split.extent; ++k) y[start + k * split.inner] = k == best ? 1.0f : 0.0f;
  }
  return ok_status();
}

Status hardmax_reference(const EvalCall& call) { return in_f32(call, hardmax_compute); }

}  // namespace

OpDef hardmax() {
  return {
      .name = "Hardmax",
      .doc = "y = 1 at the first largest value along an axis, 0 elsewhere",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "axis to search; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = infer_softmax,
      .reference = hardmax_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFixed,
      .fixed_range = {0.0f, 1.0f},
  };
}

}  // namespace rk::ops
