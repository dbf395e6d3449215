// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/quantize_core.h"

namespace rk::ops {

Status check_scales(const InferCall& call, DType quantized) {
  const Shape& x = call.input(0).shape;
  const Shape& scale = call.input(1).shape;
  if (!is_small_float(call.input(1).dtype)) RK_TRY(require_float(call, 1));
  if (call.has_input(2)) {
    // One number may be written as a scalar or as a list of one, and not alike for both.
    const Shape& zero_point = call.input(2).shape;
    const bool both_single = scale.elements() == 1 && scale.rank() <= 1 &&
                             zero_point.elements() == 1 && zero_point.rank() <= 1;
    if (!both_single) RK_TRY(require_shape(call, 2, scale));
    if (call.input(2).dtype != quantized) {
      return refuse("input 2 ('zero_point') has dtype ", rk::to_string(call.input(2).dtype),
                    ", expected ", rk::to_string(quantized));
    }
  }
  const int64_t block = call.node.i64("block_size");
  if (block < 0) return refuse("attribute 'block_size' is ", block, ", expected 0 or more");
  if (scale.elements() == 1 && scale.rank() <= 1 && block == 0) return ok_status();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), x.rank()));
  if (block == 0) return require_shape(call, 1, Shape{x[axis]});
  Shape expected = x;
  expected[axis] = x[axis] == 0 ? 0 : (x[axis] - 1) / block + 1;
  return require_shape(call, 1, expected);
}

ScaleIndex::ScaleIndex(const EvalCall& call) {
  const Shape& x = call.input(0).shape();
  const Shape& scale = call.input(1).shape();
  const int64_t block = call.node.i64("block_size");
  if (scale.elements() == 1 && scale.rank() <= 1 && block == 0) return;
  const int axis = normalize_axis(call.node.i64("axis"), x.rank()).value();  // checked by infer
  inner_ = extent_product(x, axis + 1, x.rank());
  extent_ = x[axis];
  if (block == 0) return;
  block_ = block;
  scale_extent_ = scale[axis];
  scale_inner_ = inner_;
  scale_step_ = 1;
}

}  // namespace rk::ops
