// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization: y = (x - mean) / (standard deviation + 1e-9) over the given axes,
// statistics shared by all elements that differ in those axes only.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status mean_variance_normalization_infer(InferCall& call) {
  RK_TRY(normalize_axes(call.node.ints("axes"), call.input(0).shape.rank()).status());
  return infer_same_as_input(call);
}

Status mean_variance_normalization_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const std::vector<int> axes, normalize_axes(call.node.ints("axes"), in.rank()));
  Shape kept = in;
  for (const int axis : axes) kept[axis] = 1;
  if (in.elements() == 0) return ok_status();
  struct Sums {
    double mean = 0;
    double squares = 0;
  };
  std::vector<Sums> sums(static_cast<size_t>(kept.elements()));
  const double count = static_cast<double>(in.elements() / kept.elements());
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  const auto each = [&](auto body) {
    int64_t n = 0;
    for_each_row<1>(in, {broadcast_strides(kept, in)},
                    [&](const auto& offsets, const auto& steps, int64_t row) {
                      for (int64_t i = 0; i < row; ++i, ++n)
                        body(sums[static_cast<size_t>(offsets[0] + i * steps[0])], n);
                    });
  };
  each([&](Sums& s, int64_t n) { s.mean += x[n] / count; });
  each([&](Sums& s, int64_t n) { s.squares += (x[n] - s.mean) * (x[n] - s.mean); });
  each([&](Sums& s, int64_t n) {
    y[n] = static_cast<float>((x[n] - s.mean) / (std::sqrt(s.squares / count) + 1e-9));
  });
  return ok_status();
}

Status mean_variance_normalization_reference(const EvalCall& call) {
  return in_f32(call, mean_variance_normalization_compute);
}

Cost mean_variance_normalization_cost(const Node& node) {
  return {.ops = 4 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef mean_variance_normalization() {
  return {
      .name = "MeanVarianceNormalization",
      .doc = "y = (x - mean) / standard deviation over the axes",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"axes", std::vector<int64_t>{0, 2, 3}, "axes of the statistics", AttrDef::kDefault,
                 AttrDef::kAxisOfInput}},
      .infer = mean_variance_normalization_infer,
      .reference = mean_variance_normalization_reference,
      .cost = mean_variance_normalization_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
