// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool: the mean over all spatial axes of [N,C,...]; the output keeps them with extent
// 1.
#include "ops/elementwise.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) {
  RK_TRY(require_float(call, 0));
  RK_TRY(require_rank(call, 0, 2));
  const Shape& in = call.input(0).shape;
  if (extent_product(in, 2, in.rank()) == 0) {
    return refuse("input 'x' is ", rk::to_string(in), ", expected spatial extents above 0");
  }
  Shape out = in;
  for (int axis = 2; axis < out.rank(); ++axis) out[axis] = 1;
  return set_output(call, 0, call.input(0).dtype, out);
}

Status compute(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const int64_t plane = extent_product(in, 2, in.rank());
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  for (int64_t i = 0; i < call.output(0).elements(); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < plane; ++j) sum += x[i * plane + j];
    y[i] = static_cast<float>(sum / static_cast<double>(plane));
  }
  return ok_status();
}

Status reference(const EvalCall& call) { return in_f32(call, compute); }

Cost cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef global_average_pool() {
  return {
      .name = "GlobalAveragePool",
      .doc = "y = mean over the spatial axes",
      .inputs = {{"x"}},
      .outputs = {{"y"}},
      .infer = infer,
      .reference = reference,
      .cost = cost,
      .quant = QuantRule::kOwnScale,
      .layout = LayoutRule::kChannelAxis,
  };
}

}  // namespace rk::ops
