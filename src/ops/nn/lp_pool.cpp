// SPDX-License-Identifier: Apache-2.0
// LpPool: the p-norm of each window. Padding counts as zeros, so it changes nothing.
#include <cmath>
#include <limits>

#include "ops/shared/pool.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

Status lp_pool_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "p", 1, std::numeric_limits<int32_t>::max()));
  RK_ASSIGN(const Shape shape, pool_output(call.node));
  return set_output(call, 0, call.input(0).dtype, shape);
}

Status lp_pool_compute(const EvalCall& call) {
  const PoolAttrs attrs = pool_attrs(call.node);
  const Extent in = spatial_extent(call.input(0).shape());
  const auto p = static_cast<double>(call.node.i64("p"));
  pool_f32(call, attrs.window, [&](const float* from, const PoolPlace& place) {
    double sum = 0;
    for_each_tap(place, attrs.window, in, [&](int64_t offset) {
      sum += std::pow(std::fabs(static_cast<double>(from[offset])), p);
    });
    return std::pow(sum, 1.0 / p);
  });
  return ok_status();
}

Status lp_pool_reference(const EvalCall& call) { return in_f32(call, lp_pool_compute); }

}  // namespace

OpDef lp_pool() {
  std::vector<AttrDef> attrs = pool_attr_defs();
  attrs.push_back({"p", int64_t{2}, "the norm's power"});
  return {
      .name = "LpPool",
      .doc = "y = p-norm of each window",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = lp_pool_infer,
      .reference = lp_pool_reference,
      .cost = pool_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
