// SPDX-License-Identifier: Apache-2.0
// GlobalMaxPool: the largest value over all spatial axes of [N,C,...]; the output keeps them with
// extent 1.
#include <algorithm>

#include "ops/elementwise.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) {
  RK_TRY(require_number(call, 0));
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
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Shape& in = call.input(0).shape();
    const int64_t plane = extent_product(in, 2, in.rank());
    const T* x = call.input(0).data<T>();
    T* y = call.output(0).mutable_data<T>();
    for (int64_t i = 0; i < call.output(0).elements(); ++i) {
      y[i] = *std::max_element(x + i * plane, x + (i + 1) * plane);
    }
    return ok_status();
  });
}

Status reference(const EvalCall& call) { return halves_as_f32(call, compute); }

Cost cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef global_max_pool() {
  return {
      .name = "GlobalMaxPool",
      .doc = "y = largest value over the spatial axes",
      .inputs = {{"x"}},
      .outputs = {{"y"}},
      .infer = infer,
      .reference = reference,
      .cost = cost,
      .quant = QuantRule::kSameScaleAsInput,
      .layout = LayoutRule::kChannelAxis,
  };
}

}  // namespace rk::ops
