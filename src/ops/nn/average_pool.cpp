// SPDX-License-Identifier: Apache-2.0
// AveragePool: the mean of each window. Padding counts as zeros only with count_include_pad; what
// ceil_mode reaches beyond the padding never counts.
#include "ops/shared/pool.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

Status average_pool_infer(InferCall& call) {
  RK_ASSIGN(const Shape shape, pool_output(call.node));
  return set_output(call, 0, call.input(0).dtype, shape);
}

int64_t taps_in(int64_t begin, int64_t end, int64_t dilation) {
  return end <= begin ? 0 : (end - begin + dilation - 1) / dilation;
}

Status average_pool_compute(const EvalCall& call) {
  const PoolAttrs attrs = pool_attrs(call.node);
  const Window& window = attrs.window;
  const Extent in = spatial_extent(call.input(0).shape());
  pool_f32(call, window, [&](const float* from, const PoolPlace& place) {
    double sum = 0;
    int64_t count = 0;
    for_each_tap(place, window, in, [&](int64_t offset) {
      sum += from[offset];
      ++count;
    });
    if (attrs.count_include_pad) {
      count = 1;
      for (int axis = 0; axis < 3; ++axis) {
        count *= taps_in(place.begin.at(axis), place.end.at(axis), window.dilation.at(axis));
      }
    }
    return count == 0 ? 0.0 : sum / static_cast<double>(count);
  });
  return ok_status();
}

Status average_pool_reference(const EvalCall& call) { return in_f32(call, average_pool_compute); }

}  // namespace

OpDef average_pool() {
  std::vector<AttrDef> attrs = pool_attr_defs();
  attrs.push_back({"count_include_pad", int64_t{0}, "1: padding counts as zeros"});
  return {
      .name = "AveragePool",
      .doc = "y = mean of each window",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = average_pool_infer,
      .reference = average_pool_reference,
      .cost = pool_cost,
      .quant = QuantRule::kOwnScale,
      .homogeneous = true,
  };
}

}  // namespace rk::ops
