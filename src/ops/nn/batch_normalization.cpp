// SPDX-License-Identifier: Apache-2.0
// BatchNormalization at inference: y = (x - mean) / sqrt(var + epsilon) * scale + bias, per channel
// (axis 1).
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status batch_normalization_infer(InferCall& call) {
  if (call.node.i64("training_mode") != 0 || call.output_count() > 1) {
    return unsupported(
        "training_mode is set or more than one output is used; only inference is supported. Export "
        "the "
        "model in evaluation mode");
  }
  const Shape& in = call.input(0).shape;
  const Shape per_channel = {in.rank() > 1 ? in[1] : 1};
  for (size_t i = 1; i < 5; ++i) {
    RK_TRY(require_float(call, i));
    RK_TRY(require_shape(call, i, per_channel));
  }
  return infer_same_as_input(call);
}

Status batch_normalization_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t channels = in.rank() > 1 ? in[1] : 1;
  const int64_t plane = in.rank() > 1 ? extent_product(in, 2, in.rank()) : 1;
  const float epsilon = call.node.f32("epsilon");
  const auto param = [&](size_t i) { return call.input(i).data<float>(); };
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  const int64_t planes = call.output(0).elements() == 0 ? 0 : in[0] * channels;
  for (int64_t i = 0; i < planes; ++i) {
    const int64_t c = i % channels;
    const double factor = param(1)[c] / std::sqrt(static_cast<double>(param(4)[c]) + epsilon);
    for (int64_t j = i * plane; j < (i + 1) * plane; ++j) {
      y[j] = static_cast<float>((x[j] - static_cast<double>(param(3)[c])) * factor + param(2)[c]);
    }
  }
  return ok_status();
}

Status batch_normalization_reference(const EvalCall& call) {
  return in_f32(call, batch_normalization_compute);
}

}  // namespace

OpDef batch_normalization() {
  return {
      .name = "BatchNormalization",
      .doc = "y = (x - mean) / sqrt(var + epsilon) * scale + bias per channel",
      .inputs = {{"x", floats().rank(1, kMaxRank)},
                 {"scale", floats()},
                 {"bias", floats()},
                 {"mean", floats()},
                 {"var", floats()}},
      .outputs = {{"y"}, {"running_mean", ArgDef::kOptional}, {"running_var", ArgDef::kOptional}},
      .attrs = {{"epsilon", 1e-5f, "added to the variance"},
                {"momentum", 0.9f, "used in training only"},
                {"training_mode", int64_t{0}, "must be 0"}},
      .infer = batch_normalization_infer,
      .reference = batch_normalization_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
