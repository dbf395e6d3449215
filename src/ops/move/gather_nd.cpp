// SPDX-License-Identifier: Apache-2.0
// GatherND: slices of x addressed by index tuples, the last axis of `indices`. The first batch_dims
// axes are shared.
#include <algorithm>
#include <cstring>

#include "ops/shared/elementwise.h"
#include "ops/shared/index_tuple.h"

namespace rk::ops {
namespace {

Status gather_nd_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  RK_TRY(require_range(call.node, "batch_dims", 0, std::min(in.rank(), indices.rank()) - 1));
  const int batch = static_cast<int>(call.node.i64("batch_dims"));
  for (int axis = 0; axis < batch; ++axis) {
    if (in[axis] != indices[axis]) {
      return refuse("inputs ", rk::to_string(in), " and ", rk::to_string(indices),
                    " differ on batch axis ", axis);
    }
  }
  const int64_t length = indices[indices.rank() - 1];
  if (length < 1 || length > in.rank() - batch) {
    return refuse("input 1 ('indices') is ", rk::to_string(indices), ", expected 1 to ",
                  in.rank() - batch, " as last extent");
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int axis = batch + static_cast<int>(length); axis < in.rank(); ++axis)
    dims.push_back(in[axis]);
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status gather_nd_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const Shape& indices = call.input(1).shape();
  const int batch = static_cast<int>(call.node.i64("batch_dims"));
  const int length = static_cast<int>(indices[indices.rank() - 1]);
  const size_t slice = static_cast<size_t>(extent_product(in, batch + length, in.rank())) *
                       byte_size(call.input(0).dtype());
  if (call.output(0).size_bytes() == 0) return ok_status();
  const int64_t tuples = extent_product(indices, 0, indices.rank() - 1);
  const int64_t tuples_per_batch = extent_product(indices, batch, indices.rank() - 1);
  const int64_t slices_per_batch = extent_product(in, batch, batch + length);
  uint8_t* to = call.output(0).mutable_data<uint8_t>();
  for (int64_t t = 0; t < tuples; ++t, to += slice) {
    RK_ASSIGN(const int64_t number, slice_number(call.input(1), t * length, in, batch, length));
    const int64_t from = t / tuples_per_batch * slices_per_batch + number;
    std::memcpy(to, call.input(0).data<uint8_t>() + static_cast<size_t>(from) * slice, slice);
  }
  return ok_status();
}

}  // namespace

OpDef gather_nd() {
  return {
      .name = "GatherND",
      .doc = "y = slices of x addressed by index tuples",
      .inputs = {{"x", anything().rank(1, kMaxRank)}, {"indices", indices().rank(1, kMaxRank)}},
      .outputs = {{"y"}},
      .attrs = {{"batch_dims", int64_t{0}, "leading axes that x and indices share"}},
      .infer = gather_nd_infer,
      .reference = gather_nd_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
