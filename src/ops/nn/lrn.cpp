// SPDX-License-Identifier: Apache-2.0
// LRN: y = x / (bias + alpha / size * sum of squares over `size` neighboring channels) ^ beta.
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status lrn_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "size", 1, 1 << 20));
  return infer_same_as_input(call);
}

Status lrn_compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t plane = extent_product(in, 2, in.rank());
  const int64_t size = call.node.i64("size");
  const double alpha = call.node.f32("alpha");
  const double beta = call.node.f32("beta");
  const double bias = call.node.f32("bias");
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  call.parallel_for(in[0] * in[1], 1, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t c = i % in[1];
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(in[1] - 1, c + size / 2);
      for (int64_t j = 0; j < plane; ++j) {
        double squares = 0;
        for (int64_t k = first; k <= last; ++k) {
          const double value = x[(i - c + k) * plane + j];
          squares += value * value;
        }
        y[i * plane + j] = static_cast<float>(
            x[i * plane + j] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta));
      }
    }
  });
  return ok_status();
}

Status lrn_reference(const EvalCall& call) { return in_f32(call, lrn_compute); }

Cost lrn_cost(const Node& node) {
  const Shape& shape = node.output().shape();
  const auto summed = static_cast<uint64_t>(std::min(node.i64("size"), shape[1]));
  return {.ops = static_cast<uint64_t>(shape.elements()) * (summed + 2)};
}

}  // namespace

OpDef lrn() {
  return {
      .name = "LRN",
      .doc = "y = x / (bias + alpha / size * sum of squares of neighboring channels) ^ beta",
      .inputs = {{"x", floats().rank(2, kMaxRank)}},
      .outputs = {{"y"}},
      .attrs = {{"size", int64_t{1}, "channels summed over", AttrDef::kRequired},
                {"alpha", 1e-4f, "factor of the sum"},
                {"beta", 0.75f, "exponent"},
                {"bias", 1.0f, "added to the sum"}},
      .infer = lrn_infer,
      .reference = lrn_reference,
      .cost = lrn_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
