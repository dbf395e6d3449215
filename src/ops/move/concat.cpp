// SPDX-License-Identifier: Apache-2.0
// Concat: joins tensors along one axis; all other extents agree. Any dtype.
#include <cstring>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status concat_infer(InferCall& call) {
  if (call.input_count() == 0) return refuse("no inputs found, at least one expected");
  const Shape& first = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), first.rank()));
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  for (size_t i = 1; i < call.input_count(); ++i) {
    RK_TRY(require_same_dtype(call, 0, i));
    const Shape& next = call.input(i).shape;
    bool fits = next.rank() == first.rank();
    for (int a = 0; fits && a < first.rank(); ++a) fits = a == axis || next[a] == first[a];
    if (!fits) {
      return refuse("input ", i, " is ", rk::to_string(next), ", expected the extents of input 0 ",
                    rk::to_string(first), " except on axis ", axis);
    }
    dims[static_cast<size_t>(axis)] += next[axis];
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status concat_reference(const EvalCall& call) {
  Tensor& out = call.output(0);
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), out.shape().rank()));
  const AxisSplit to = split_at(out.shape(), axis);
  const size_t element = byte_size(out.dtype());
  const size_t out_block = static_cast<size_t>(to.extent * to.inner) * element;
  uint8_t* start = out.mutable_data<uint8_t>();
  for (const Tensor* input : call.inputs) {
    const size_t block = static_cast<size_t>(input->shape()[axis] * to.inner) * element;
    for (size_t o = 0; o < static_cast<size_t>(to.outer) && block != 0; ++o) {
      std::memcpy(start + o * out_block, input->data<uint8_t>() + o * block, block);
    }
    start += block;
  }
  return ok_status();
}

}  // namespace

OpDef concat() {
  return {
      .name = "Concat",
      .doc = "y = the inputs one after another along an axis",
      .inputs = {{"inputs", anything().like(0), ArgDef::kVariadic}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{0}, "axis to join; negative counts from the end",
                 AttrDef::kRequired, AttrDef::kAxisOfInput}},
      .infer = concat_infer,
      .reference = concat_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
