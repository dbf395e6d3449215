// SPDX-License-Identifier: Apache-2.0
// ScatterElements: a copy of x in which y[i, indices[i, j], ...] is replaced by (or combined with)
// updates[i, j, ...], the index replacing one axis. With equal places and reduction none the last
// one wins.
#include "ops/shared/scatter.h"

namespace rk::ops {
namespace {

Status scatter_elements_infer(InferCall& call) {
  RK_TRY(check_scatter(call));
  const Shape& in = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  bool fits = indices.rank() == in.rank();
  for (int a = 0; fits && a < in.rank(); ++a) fits = a == axis || indices[a] <= in[a];
  if (!fits) {
    return refuse("input 1 ('indices') is ", rk::to_string(indices),
                  ", expected x's rank and, except on axis ", axis, ", no extent above x's ",
                  rk::to_string(in));
  }
  RK_TRY(require_shape(call, 2, indices));
  return infer_same_as_input(call);
}

// `combine(old, update)` for each place.
template <typename T, typename Combine>
Status scatter(const EvalCall& call, Combine combine) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  const int64_t extent = in[axis];
  Strides strides = row_major_strides(in);
  const int64_t axis_stride = strides[static_cast<size_t>(axis)];
  strides[static_cast<size_t>(axis)] = 0;
  const T* updates = call.input(2).data<T>();
  T* y = call.output(0).mutable_data<T>();
  int64_t n = 0;
  Status status;
  for_each_row<1>(call.input(1).shape(), {strides},
                  [&](const auto& offsets, const auto& steps, int64_t count) {
                    for (int64_t i = 0; i < count && status.ok(); ++i, ++n) {
                      int64_t index = call.input(1).at_i64(n);
                      if (index < -extent || index >= extent) {
                        status = invalid_argument(str("input 1 ('indices') holds ", index,
                                                      ", expected ", -extent, " to ", extent - 1));
                        return;
                      }
                      if (index < 0) index += extent;
                      T& place = y[offsets[0] + i * steps[0] + index * axis_stride];
                      place = combine(place, updates[n]);
                    }
                  });
  return status;
}

Status scatter_elements_compute(const EvalCall& call) {
  return scatter_into_copy(
      call, [&](auto tag, auto combine) { return scatter<decltype(tag)>(call, combine); });
}

Status scatter_elements_reference(const EvalCall& call) {
  return scatter_reference(call, scatter_elements_compute);
}

}  // namespace

OpDef scatter_elements() {
  return {
      .name = "ScatterElements",
      .doc = "y = x with the elements at indices along an axis replaced by updates",
      .inputs = {{"x", anything()}, {"indices", indices()}, {"updates", anything().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{0}, "axis the indices count on; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                scatter_reduction_attr()},
      .infer = scatter_elements_infer,
      .reference = scatter_elements_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
