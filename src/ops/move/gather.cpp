// SPDX-License-Identifier: Apache-2.0
// Gather: rows of x along an axis, picked by indices; the indices' shape replaces that axis.
// Negative indices count from the end; one outside is an error when the node runs. Any dtype.
#include <cstring>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status gather_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  std::vector<int64_t> dims;
  for (int a = 0; a < axis; ++a) dims.push_back(in[a]);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  for (int a = axis + 1; a < in.rank(); ++a) dims.push_back(in[a]);
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status gather_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), x.shape().rank()));
  std::vector<int64_t> indices = call.input(1).to_i64();
  const AxisSplit from = split_at(x.shape(), axis);
  for (int64_t& index : indices) {
    if (index < -from.extent || index >= from.extent) {
      return invalid_argument(str("input 1 ('indices') holds ", index, ", expected ", -from.extent,
                                  " to ", from.extent - 1));
    }
    if (index < 0) index += from.extent;
  }
  const size_t row = static_cast<size_t>(from.inner) * byte_size(x.dtype());
  if (call.output(0).size_bytes() == 0) return ok_status();
  uint8_t* to = call.output(0).mutable_data<uint8_t>();
  for (int64_t o = 0; o < from.outer; ++o) {
    for (const int64_t index : indices) {
      std::memcpy(to, x.data<uint8_t>() + static_cast<size_t>(o * from.extent + index) * row, row);
      to += row;
    }
  }
  return ok_status();
}

}  // namespace

OpDef gather() {
  return {
      .name = "Gather",
      .doc = "y = rows of x along an axis, picked by indices",
      .inputs = {{"x", anything()}, {"indices", indices()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{0}, "axis the indices count on; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = gather_infer,
      .reference = gather_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kSelected,
  };
}

}  // namespace rk::ops
