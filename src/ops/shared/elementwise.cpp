// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Result<Shape> broadcast_inputs(const InferCall& call) {
  if (call.input_count() == 0) return refuse("no inputs found, at least one expected");
  Shape shape = call.input(0).shape;
  for (size_t i = 1; i < call.input_count(); ++i) {
    RK_TRY(require_same_dtype(call, 0, i));
    RK_ASSIGN(shape, broadcast_shapes(shape, call.input(i).shape));
  }
  return shape;
}

}  // namespace

Status infer_same_as_input(InferCall& call) {
  call.set_output(0, call.input(0));
  return ok_status();
}

Status infer_number_same_as_input(InferCall& call) {
  RK_TRY(require_number(call, 0));
  return infer_same_as_input(call);
}

Status infer_float_same_as_input(InferCall& call) {
  RK_TRY(require_float(call, 0));
  return infer_same_as_input(call);
}

Status infer_broadcast(InferCall& call) {
  RK_ASSIGN(const Shape shape, broadcast_inputs(call));
  RK_TRY(require_number(call, 0));
  return set_output(call, 0, call.input(0).dtype, shape);
}

Status infer_compare(InferCall& call) {
  RK_ASSIGN(const Shape shape, broadcast_inputs(call));
  return set_output(call, 0, DType::kBool, shape);
}

Status infer_logical(InferCall& call) {
  RK_TRY(require_bool(call, 0));
  return infer_compare(call);
}

Status infer_bitwise(InferCall& call) {
  RK_TRY(require_integer(call, 0));
  return infer_broadcast(call);
}

Cost elementwise_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.output().shape().elements())};
}

Cost no_cost(const Node&) { return {}; }

}  // namespace rk::ops
