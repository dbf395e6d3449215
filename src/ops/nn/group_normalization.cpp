// SPDX-License-Identifier: Apache-2.0
// GroupNormalization: mean 0 and variance 1 over groups of channels, then scale and bias per
// channel (the opset 21 form; opset 18 had them per group, which the importer spreads).
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status group_normalization_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  const int64_t groups = call.node.i64("num_groups");
  if (groups < 1 || in[1] % groups != 0) {
    return refuse("attribute 'num_groups' is ", groups, ", expected a divisor of the ", in[1],
                  " channels");
  }
  for (size_t i = 1; i < 3; ++i) {
    RK_TRY(require_same_dtype(call, 0, i));
    RK_TRY(require_shape(call, i, Shape{in[1]}));
  }
  return infer_same_as_input(call);
}

Status group_normalization_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t groups = call.node.i64("num_groups");
  const int64_t plane = extent_product(in, 2, in.rank());
  const int64_t length = in[1] / groups * plane;
  const double epsilon = call.node.f32("epsilon");
  if (in.elements() == 0) return ok_status();
  for (int64_t i = 0; i < in[0] * groups; ++i) {
    const float* x = call.input(0).data<float>() + i * length;
    float* y = call.output(0).mutable_data<float>() + i * length;
    double mean = 0;
    for (int64_t j = 0; j < length; ++j) mean += x[j];
    mean /= static_cast<double>(length);
    double variance = 0;
    for (int64_t j = 0; j < length; ++j) variance += (x[j] - mean) * (x[j] - mean);
    const double factor = 1.0 / std::sqrt(variance / static_cast<double>(length) + epsilon);
    for (int64_t j = 0; j < length; ++j) {
      const int64_t c = i % groups * (in[1] / groups) + j / plane;
      const double scale = call.input(1).data<float>()[c];
      y[j] = static_cast<float>((x[j] - mean) * factor * scale + call.input(2).data<float>()[c]);
    }
  }
  return ok_status();
}

Status group_normalization_reference(const EvalCall& call) {
  return in_f32(call, group_normalization_compute);
}

Cost group_normalization_cost(const Node& node) {
  return {.ops = 5 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef group_normalization() {
  return {
      .name = "GroupNormalization",
      .doc =
          "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, statistics per group of "
          "channels",
      .inputs = {{"x", floats().rank(2, kMaxRank)},
                 {"scale", floats().like(0)},
                 {"bias", floats().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"num_groups", int64_t{1}, "groups the channels are split into",
                 AttrDef::kRequired},
                {"epsilon", 1e-5f, "added to the variance"},
                {"stash_type", int64_t{1}, "dtype of the statistics; always f32 here"}},
      .infer = group_normalization_infer,
      .reference = group_normalization_reference,
      .cost = group_normalization_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
