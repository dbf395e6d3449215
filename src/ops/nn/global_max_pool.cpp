// SPDX-License-Identifier: Apache-2.0
// GlobalMaxPool: the largest value over all spatial axes of [N,C,...]; the output keeps them with
// extent 1.
#include <algorithm>

#include "ops/shared/global_pool.h"

namespace rk::ops {
namespace {

Status global_max_pool_infer(InferCall& call) { return infer_global_pool(call); }

Status global_max_pool_compute(const EvalCall& call) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    pool_planes<T>(call, [](std::span<const T> plane) { return *std::ranges::max_element(plane); });
    return ok_status();
  });
}

Status global_max_pool_reference(const EvalCall& call) {
  return halves_as_f32(call, global_max_pool_compute);
}

}  // namespace

OpDef global_max_pool() {
  return {
      .name = "GlobalMaxPool",
      .doc = "y = largest value over the spatial axes",
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}},
      .infer = global_max_pool_infer,
      .reference = global_max_pool_reference,
      .cost = global_pool_cost,
      .quant = QuantRule::kSameScaleAsInput,
  };
}

}  // namespace rk::ops
