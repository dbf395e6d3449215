// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool: the mean over all spatial axes of [N,C,...]; the output keeps them with extent
// 1.
#include <numeric>

#include "ops/shared/global_pool.h"

namespace rk::ops {
namespace {

Status global_average_pool_infer(InferCall& call) { return infer_global_pool(call); }

Status global_average_pool_compute(const EvalCall& call) {
  pool_planes<float>(call, [](std::span<const float> plane) {
    const double sum = std::accumulate(plane.begin(), plane.end(), 0.0);
    return static_cast<float>(sum / static_cast<double>(plane.size()));
  });
  return ok_status();
}

Status global_average_pool_reference(const EvalCall& call) {
  return in_f32(call, global_average_pool_compute);
}

}  // namespace

OpDef global_average_pool() {
  return {
      .name = "GlobalAveragePool",
      .doc = "y = mean over the spatial axes",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .infer = global_average_pool_infer,
      .reference = global_average_pool_reference,
      .cost = global_pool_cost,
      .quant = QuantRule::kOwnScale,
      .homogeneous = true,
  };
}

}  // namespace rk::ops
