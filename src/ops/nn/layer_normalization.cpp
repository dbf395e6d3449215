// SPDX-License-Identifier: Apache-2.0
// LayerNormalization: mean 0 and variance 1 over the axes from `axis` on, then scale and bias,
// which broadcast to x.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status layer_normalization_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  RK_TRY(require_range(call.node, "stash_type", 1, 1));
  for (size_t i = 1; i < 3; ++i) {
    if (!call.has_input(i)) continue;
    RK_TRY(require_same_dtype(call, 0, i));
    RK_ASSIGN(const Shape both, broadcast_shapes(in, call.input(i).shape));
    if (!(both == in)) {
      return refuse("input ", i, " ('", input_name(call, i), "') is ",
                    rk::to_string(call.input(i).shape), ", expected a shape that broadcasts to ",
                    rk::to_string(in));
    }
  }
  RK_TRY(infer_same_as_input(call));
  Shape reduced = in;
  for (int a = axis; a < reduced.rank(); ++a) reduced[a] = 1;
  RK_TRY(set_output(call, 1, DType::kF32, reduced));
  return set_output(call, 2, DType::kF32, reduced);
}

Status layer_normalization_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  const int64_t rows = extent_product(in, 0, axis);
  const int64_t length = extent_product(in, axis, in.rank());
  const double epsilon = call.node.f32("epsilon");
  if (call.output(0).elements() == 0) return ok_status();
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * length;
    double mean = 0;
    for (int64_t i = 0; i < length; ++i) mean += from[i];
    mean /= static_cast<double>(length);
    double variance = 0;
    for (int64_t i = 0; i < length; ++i) variance += (from[i] - mean) * (from[i] - mean);
    const double factor = 1.0 / std::sqrt(variance / static_cast<double>(length) + epsilon);
    for (int64_t i = 0; i < length; ++i)
      y[row * length + i] = static_cast<float>((from[i] - mean) * factor);
    if (call.outputs.size() > 1)
      call.output(1).mutable_data<float>()[row] = static_cast<float>(mean);
    if (call.outputs.size() > 2)
      call.output(2).mutable_data<float>()[row] = static_cast<float>(factor);
  }
  Tensor& out = call.output(0);
  broadcast_binary<float, float, float>(out, call.input(1), out,
                                        [](float a, float scale) { return a * scale; });
  if (call.has_input(2)) {
    broadcast_binary<float, float, float>(out, call.input(2), out,
                                          [](float a, float bias) { return a + bias; });
  }
  return ok_status();
}

Status layer_normalization_reference(const EvalCall& call) {
  return in_f32(call, layer_normalization_compute);
}

Cost layer_normalization_cost(const Node& node) {
  return {.ops = 5 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef layer_normalization() {
  return {
      .name = "LayerNormalization",
      .doc = "y = (x - mean) / sqrt(variance + epsilon) * scale + bias over the last axes",
      .inputs = {{"x", floats()},
                 {"scale", floats().like(0)},
                 {"bias", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}, {"mean", ArgDef::kOptional}, {"inv_std_dev", ArgDef::kOptional}},
      .attrs = {{"axis", int64_t{-1}, "first axis of the mean; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"epsilon", 1e-5f, "added to the variance"},
                {"stash_type", int64_t{1}, "dtype of the statistics; 1 is f32"}},
      .infer = layer_normalization_infer,
      .reference = layer_normalization_reference,
      .cost = layer_normalization_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
