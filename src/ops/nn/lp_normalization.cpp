// SPDX-License-Identifier: Apache-2.0
// LpNormalization: divides by the L1 or L2 norm along one axis. An all-zero row stays zero.
#include <cmath>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status lp_normalization_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "p", 1, 2));
  RK_TRY(normalize_axis(call.node.i64("axis"), call.input(0).shape.rank()).status());
  return infer_same_as_input(call);
}

Status lp_normalization_compute(const EvalCall& call) {
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), call.input(0).shape().rank()));
  const AxisSplit split = split_at(call.input(0).shape(), axis);
  const bool squares = call.node.i64("p") == 2;
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  for (int64_t i = 0; i < split.outer * split.inner; ++i) {
    const int64_t start = i / split.inner * split.extent * split.inner + i % split.inner;
    double norm = 0;
    for (int64_t k = 0; k < split.extent; ++k) {
      const double value = x[start + k * split.inner];
      norm += squares ? value * value : std::fabs(value);
    }
    if (squares) norm = std::sqrt(norm);
    for (int64_t k = 0; k < split.extent; ++k) {
      const int64_t at = start + k * split.inner;
      y[at] = norm == 0 ? 0.0f : static_cast<float>(x[at] / norm);
    }
  }
  return ok_status();
}

Status lp_normalization_reference(const EvalCall& call) {
  return in_f32(call, lp_normalization_compute);
}

Cost lp_normalization_cost(const Node& node) {
  return {.ops = 3 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef lp_normalization() {
  return {
      .name = "LpNormalization",
      .doc = "y = x / norm of x along an axis",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "axis of the norm; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"p", int64_t{2}, "1: sum of magnitudes; 2: root of the sum of squares"}},
      .infer = lp_normalization_infer,
      .reference = lp_normalization_reference,
      .cost = lp_normalization_cost,
      .quant = QuantRule::kFixed,
      .fixed_range = {-1.0f, 1.0f},
  };
}

}  // namespace rk::ops
