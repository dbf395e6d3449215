// SPDX-License-Identifier: Apache-2.0
// OneHot: a new axis of extent `depth` that holds the on value at the index and the off value
// elsewhere. Negative indices count from the end; an index outside gives a row of off values, not
// an error.
#include <cstring>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status one_hot_infer(InferCall& call) {
  RK_ASSIGN(const double wanted, constant_number(call, 1));
  if (!(wanted >= 1 && wanted <= 2147483648.0))
    return refuse("input 1 ('depth') is ", wanted, ", expected 1 or more");
  RK_TRY(require_shape(call, 2, Shape{2}));
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank() + 1));
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  dims.insert(dims.begin() + axis, static_cast<int64_t>(wanted));
  return set_output(call, 0, call.input(2).dtype, dims);
}

Status one_hot_reference(const EvalCall& call) {
  Tensor& out = call.output(0);
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), out.shape().rank()));
  const AxisSplit split = split_at(out.shape(), axis);
  const std::vector<int64_t> indices = call.input(0).to_i64();
  const size_t element = byte_size(out.dtype());
  const uint8_t* off = call.input(2).data<uint8_t>();
  const uint8_t* on = off + element;
  uint8_t* to = out.mutable_data<uint8_t>();
  for (int64_t o = 0; o < split.outer; ++o) {
    for (int64_t k = 0; k < split.extent; ++k) {
      for (int64_t i = 0; i < split.inner; ++i, to += element) {
        const int64_t index = indices[static_cast<size_t>(o * split.inner + i)];
        std::memcpy(to, index == k || (index < 0 && index == k - split.extent) ? on : off, element);
      }
    }
  }
  return ok_status();
}

}  // namespace

OpDef one_hot() {
  return {
      .name = "OneHot",
      .doc = "y = on at the index along a new axis, off elsewhere",
      .inputs = {{"indices", numbers()}, {"depth", numbers()}, {"values", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "where the new axis goes; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfOutput}},
      .infer = one_hot_infer,
      .reference = one_hot_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
