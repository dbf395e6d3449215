// SPDX-License-Identifier: Apache-2.0
// GatherElements: y[i, j, ...] = x[i, indices[i, j, ...], ...], the index replacing one axis. Any
// dtype.
#include <cstring>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status gather_elements_infer(InferCall& call) {
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
  return set_output(call, 0, call.input(0).dtype, indices);
}

Status gather_elements_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  const Shape& shape = call.output(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), shape.rank()));
  const int64_t extent = x.shape()[axis];
  const int64_t axis_stride = row_major_strides(x.shape())[static_cast<size_t>(axis)];
  // Walks x along all axes but the gathered one.
  Strides strides = row_major_strides(x.shape());
  strides[static_cast<size_t>(axis)] = 0;
  const size_t element = byte_size(x.dtype());
  uint8_t* to = call.output(0).mutable_data<uint8_t>();
  int64_t n = 0;
  int64_t outside = 0;
  bool failed = false;
  for_each_row<1>(shape, {strides}, [&](const auto& offsets, const auto& steps, int64_t count) {
    for (int64_t i = 0; i < count && !failed; ++i, ++n, to += element) {
      int64_t index = call.input(1).at_i64(n);
      if (index < -extent || index >= extent) {
        failed = true;
        outside = index;
        return;
      }
      if (index < 0) index += extent;
      const int64_t from = offsets[0] + i * steps[0] + index * axis_stride;
      std::memcpy(to, x.data<uint8_t>() + static_cast<size_t>(from) * element, element);
    }
  });
  if (failed) {
    return invalid_argument(
        str("input 1 ('indices') holds ", outside, ", expected ", -extent, " to ", extent - 1));
  }
  return ok_status();
}

}  // namespace

OpDef gather_elements() {
  return {
      .name = "GatherElements",
      .doc = "y = elements of x, picked along an axis by indices of the output's shape",
      .inputs = {{"x", anything()}, {"indices", indices()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{0}, "axis the indices count on; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = gather_elements_infer,
      .reference = gather_elements_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
