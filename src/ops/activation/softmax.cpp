// SPDX-License-Identifier: Apache-2.0
// Softmax: exp(x) / sum of exp(x) along one axis, shifted by the maximum so that nothing overflows.
#include "ops/activation/softmax.h"

#include <algorithm>
#include <cmath>

namespace rk::ops {
namespace {

Status softmax_compute(const EvalCall& call) {
  return softmax_f32(call, [](double shifted, double sum) { return std::exp(shifted) / sum; });
}

Status softmax_reference(const EvalCall& call) { return in_f32(call, softmax_compute); }

}  // namespace

Status infer_softmax(InferCall& call) {
  RK_TRY(normalize_axis(call.node.i64("axis"), call.input(0).shape.rank()).status());
  return infer_same_as_input(call);
}

void softmax_along(const EvalCall& call, const AxisSplit& split, const float* x,
                   SoftmaxFinish finish, float* y) {
  if (split.extent == 0) return;
  call.parallel_for(split.outer * split.inner, 64, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t start = i / split.inner * split.extent * split.inner + i % split.inner;
      double most = x[start];
      for (int64_t k = 1; k < split.extent; ++k)
        most = std::max<double>(most, x[start + k * split.inner]);
      double sum = 0;
      for (int64_t k = 0; k < split.extent; ++k) sum += std::exp(x[start + k * split.inner] - most);
      for (int64_t k = 0; k < split.extent; ++k) {
        const int64_t at = start + k * split.inner;
        y[at] = static_cast<float>(finish(x[at] - most, sum));
      }
    }
  });
}

Status softmax_f32(const EvalCall& call, SoftmaxFinish finish) {
  const Shape& shape = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), shape.rank()));
  softmax_along(call, split_at(shape, axis), call.input(0).data<float>(), finish,
                call.output(0).mutable_data<float>());
  return ok_status();
}

double log_softmax_of(double shifted, double sum) { return shifted - std::log(sum); }

Cost softmax_cost(const Node& node) {
  return {.ops = 3 * static_cast<uint64_t>(node.output().shape().elements())};
}

OpDef softmax() {
  return {
      .name = "Softmax",
      .doc = "y = exp(x) / sum of exp(x) along an axis",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "axis of the sum; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = infer_softmax,
      .reference = softmax_reference,
      .cost = softmax_cost,
      .quant = QuantRule::kFixed,
      .fixed_range = {0.0f, 1.0f},
  };
}

}  // namespace rk::ops
