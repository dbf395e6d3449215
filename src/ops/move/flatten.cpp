// SPDX-License-Identifier: Apache-2.0
// Flatten: two axes, everything before `axis` and everything from it on. Any dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status flatten_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  const int64_t given = call.node.i64("axis");
  // Unlike other axes, this one may equal the rank.
  if (given < -in.rank() || given > in.rank()) {
    return refuse("attribute 'axis' is ", given, ", expected ", -in.rank(), " to ", in.rank());
  }
  const int axis = static_cast<int>(given < 0 ? given + in.rank() : given);
  return set_output(call, 0, call.input(0).dtype,
                    std::array{extent_product(in, 0, axis), extent_product(in, axis, in.rank())});
}

Status flatten_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  return ok_status();
}

}  // namespace

OpDef flatten() {
  return {
      .name = "Flatten",
      .doc = "y = x as a matrix, split before an axis",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{1}, "first axis of the second extent, 0 to rank",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = flatten_infer,
      .reference = flatten_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kView,
  };
}

}  // namespace rk::ops
