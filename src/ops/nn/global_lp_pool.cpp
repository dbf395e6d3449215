// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool: the p-norm over all spatial axes of [N,C,...]; the output keeps them with extent 1.
#include <cmath>
#include <limits>

#include "ops/shared/global_pool.h"

namespace rk::ops {
namespace {

Status global_lp_pool_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "p", 1, std::numeric_limits<int32_t>::max()));
  return infer_global_pool(call);
}

Status global_lp_pool_compute(const EvalCall& call) {
  const auto p = static_cast<double>(call.node.i64("p"));
  pool_planes<float>(call, [p](std::span<const float> plane) {
    double sum = 0;
    for (const float x : plane) sum += std::pow(std::fabs(static_cast<double>(x)), p);
    return static_cast<float>(std::pow(sum, 1.0 / p));
  });
  return ok_status();
}

Status global_lp_pool_reference(const EvalCall& call) {
  return in_f32(call, global_lp_pool_compute);
}

}  // namespace

OpDef global_lp_pool() {
  return {
      .name = "GlobalLpPool",
      .doc = "y = p-norm over the spatial axes",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"p", int64_t{2}, "the norm's power"}},
      .infer = global_lp_pool_infer,
      .reference = global_lp_pool_reference,
      .cost = global_pool_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
