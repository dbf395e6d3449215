// SPDX-License-Identifier: Apache-2.0
// ScatterND: a copy of x in which the slices addressed by index tuples are replaced by (or combined
// with) updates. With equal tuples and reduction none the last one wins.
#include <algorithm>
#include <cstring>

#include "ops/data_move.h"
#include "ops/elementwise.h"
#include "ops/index_tuple.h"

namespace rk::ops {
namespace {

Status infer(InferCall& call) {
  RK_TRY(require_index(call, 1));
  RK_TRY(require_same_dtype(call, 0, 2));
  RK_TRY(require_rank(call, 0, 1));
  RK_TRY(require_rank(call, 1, 1));
  RK_TRY(require_one_of(call.node, "reduction", {"none", "add", "mul", "max", "min"}));
  if (call.node.text("reduction") != "none") RK_TRY(require_number(call, 0));
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

Status compute(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  const std::string& reduction = call.node.text("reduction");
  if (reduction == "none") {
    const auto replace = [](auto, auto update) { return update; };
    switch (byte_size(call.input(0).dtype())) {
      case 1:
        return scatter<uint8_t>(call, replace);
      case 2:
        return scatter<uint16_t>(call, replace);
      case 4:
        return scatter<uint32_t>(call, replace);
      default:
        return scatter<uint64_t>(call, replace);
    }
  }
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    if (reduction == "add") return scatter<T>(call, wrap_add<T>);
    if (reduction == "mul") return scatter<T>(call, wrap_mul<T>);
    if (reduction == "max") return scatter<T>(call, [](T a, T b) { return std::max(a, b); });
    return scatter<T>(call, [](T a, T b) { return std::min(a, b); });
  });
}

Status reference(const EvalCall& call) {
  if (call.node.text("reduction") == "none") return compute(call);
  return halves_as_f32(call, compute);
}

}  // namespace

OpDef scatter_nd() {
  return {
      .name = "ScatterND",
      .doc = "y = x with the slices at indices replaced by updates",
      .inputs = {{"x"}, {"indices"}, {"updates"}},
      .outputs = {{"y"}},
      .attrs = {{"reduction", "none",
                 "how an update meets the old value: none, add, mul, max or min"}},
      .infer = infer,
      .reference = reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
      .layout = LayoutRule::kFixed,
  };
}

}  // namespace rk::ops
