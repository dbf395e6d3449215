// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: each plane of [N,C,...] gets mean 0 and variance 1, then scale and bias
// per channel.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status instance_normalization_infer(InferCall& call) {
  for (size_t i = 1; i < 3; ++i) {
    RK_TRY(require_same_dtype(call, 0, i));
    RK_TRY(require_shape(call, i, Shape{call.input(0).shape[1]}));
  }
  return infer_same_as_input(call);
}

Status instance_normalization_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t plane = extent_product(in, 2, in.rank());
  const double epsilon = call.node.f32("epsilon");
  if (call.output(0).elements() == 0) return ok_status();
  for (int64_t i = 0; i < in[0] * in[1]; ++i) {
    const float* x = call.input(0).data<float>() + i * plane;
    float* y = call.output(0).mutable_data<float>() + i * plane;
    double mean = 0;
    for (int64_t j = 0; j < plane; ++j) mean += x[j];
    mean /= static_cast<double>(plane);
    double variance = 0;
    for (int64_t j = 0; j < plane; ++j) variance += (x[j] - mean) * (x[j] - mean);
    variance /= static_cast<double>(plane);
    const double factor = call.input(1).data<float>()[i % in[1]] / std::sqrt(variance + epsilon);
    const double bias = call.input(2).data<float>()[i % in[1]];
    for (int64_t j = 0; j < plane; ++j) y[j] = static_cast<float>((x[j] - mean) * factor + bias);
  }
  return ok_status();
}

Status instance_normalization_reference(const EvalCall& call) {
  return in_f32(call, instance_normalization_compute);
}

Cost instance_normalization_cost(const Node& node) {
  return {.ops = 4 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef instance_normalization() {
  return {
      .name = "InstanceNormalization",
      .doc =
          "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance per plane",
      .inputs = {{"x", floats().rank(3, kMaxRank)},
                 {"scale", floats().like(0)},
                 {"bias", floats().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"epsilon", 1e-5f, "added to the variance"}},
      .infer = instance_normalization_infer,
      .reference = instance_normalization_reference,
      .cost = instance_normalization_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
