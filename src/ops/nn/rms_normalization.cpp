// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: y = x / sqrt(mean of squares + epsilon) * scale over the axes from `axis` on;
// no mean is taken off.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status rms_normalization_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_TRY(normalize_axis(call.node.i64("axis"), in.rank()).status());
  RK_ASSIGN(const Shape both, broadcast_shapes(in, call.input(1).shape));
  if (!(both == in)) {
    return refuse("input 1 ('scale') is ", rk::to_string(call.input(1).shape),
                  ", expected a shape that broadcasts to ", rk::to_string(in));
  }
  return infer_same_as_input(call);
}

Status rms_normalization_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  const int64_t rows = in.elements() == 0 ? 0 : extent_product(in, 0, axis);
  const int64_t length = extent_product(in, axis, in.rank());
  const double epsilon = call.node.f32("epsilon");
  Tensor& out = call.output(0);
  for (int64_t row = 0; row < rows; ++row) {
    const float* x = call.input(0).data<float>() + row * length;
    float* y = out.mutable_data<float>() + row * length;
    double squares = 0;
    for (int64_t i = 0; i < length; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (int64_t i = 0; i < length; ++i) y[i] = static_cast<float>(x[i] * factor);
  }
  broadcast_binary<float, float, float>(out, call.input(1), out,
                                        [](float a, float scale) { return a * scale; });
  return ok_status();
}

Status rms_normalization_reference(const EvalCall& call) {
  return in_f32(call, rms_normalization_compute);
}

Cost rms_normalization_cost(const Node& node) {
  return {.ops = 4 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef rms_normalization() {
  return {
      .name = "RMSNormalization",
      .doc = "y = x / sqrt(mean of squares + epsilon) * scale over the last axes",
      .inputs = {{"x", floats()}, {"scale", floats().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "first axis of the mean; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"epsilon", 1e-5f, "added to the mean of squares"},
                {"stash_type", int64_t{1}, "dtype of the statistics; always f32 here"}},
      .infer = rms_normalization_infer,
      .reference = rms_normalization_reference,
      .cost = rms_normalization_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
