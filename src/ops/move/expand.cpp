// SPDX-License-Identifier: Apache-2.0
// Expand: broadcasts x with a shape. The broadcast goes both ways: an extent of 1 in `shape` keeps
// x's. Any dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status expand_infer(InferCall& call) {
  RK_ASSIGN(const std::vector<int64_t> dims, constant_ints(call, 1));
  RK_ASSIGN(const Shape wanted, Shape::make(dims));
  RK_ASSIGN(const Shape shape, broadcast_shapes(call.input(0).shape, wanted));
  return set_output(call, 0, call.input(0).dtype, shape);
}

Status expand_reference(const EvalCall& call) {
  move_view(call.input(0), 0, broadcast_strides(call.input(0).shape(), call.output(0).shape()),
            call.output(0));
  return ok_status();
}

}  // namespace

OpDef expand() {
  return {
      .name = "Expand",
      .doc = "y = x broadcast with a shape",
      .inputs = {{"x", anything()}, {"shape", integers()}},
      .outputs = {{"y"}},
      .infer = expand_infer,
      .reference = expand_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
