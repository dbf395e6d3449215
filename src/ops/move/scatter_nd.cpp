// SPDX-License-Identifier: Apache-2.0
// ScatterND: a copy of x in which the slices addressed by index tuples are replaced by (or combined
// with) updates. With equal tuples and reduction none the last one wins.
#include "ops/shared/index_tuple.h"
#include "ops/shared/scatter.h"

namespace rk::ops {
namespace {

Status scatter_nd_infer(InferCall& call) {
  RK_TRY(check_scatter(call));
  const Shape& in = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  const int64_t length = indices[indices.rank() - 1];
  if (length < 1 || length > in.rank()) {
    return refuse("input 1 ('indices') is ", rk::to_string(indices), ", expected 1 to ", in.rank(),
                  " as last extent");
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int axis = static_cast<int>(length); axis < in.rank(); ++axis) dims.push_back(in[axis]);
  RK_ASSIGN(const Shape expected, Shape::make(dims));
  RK_TRY(require_shape(call, 2, expected));
  return infer_same_as_input(call);
}

// `combine(old, update)` for each element of a slice.
template <typename T, typename Combine>
Status scatter(const EvalCall& call, Combine combine) {
  const Shape& in = call.input(0).shape();
  const Shape& indices = call.input(1).shape();
  const int length = static_cast<int>(indices[indices.rank() - 1]);
  const int64_t slice = extent_product(in, length, in.rank());
  const int64_t tuples = extent_product(indices, 0, indices.rank() - 1);
  const T* updates = call.input(2).data<T>();
  T* y = call.output(0).mutable_data<T>();
  for (int64_t t = 0; t < tuples; ++t) {
    RK_ASSIGN(const int64_t number, slice_number(call.input(1), t * length, in, 0, length));
    T* to = y + number * slice;
    for (int64_t i = 0; i < slice; ++i) to[i] = combine(to[i], updates[t * slice + i]);
  }
  return ok_status();
}

Status scatter_nd_compute(const EvalCall& call) {
  return scatter_into_copy(
      call, [&](auto tag, auto combine) { return scatter<decltype(tag)>(call, combine); });
}

Status scatter_nd_reference(const EvalCall& call) {
  return scatter_reference(call, scatter_nd_compute);
}

}  // namespace

OpDef scatter_nd() {
  return {
      .name = "ScatterND",
      .doc = "y = x with the slices at indices replaced by updates",
      .inputs = {{"x", anything().rank(1, kMaxRank)},
                 {"indices", indices().rank(1, kMaxRank)},
                 {"updates", anything().like(0)}},
      .outputs = {{"y"}},
      .attrs = {scatter_reduction_attr()},
      .infer = scatter_nd_infer,
      .reference = scatter_nd_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
