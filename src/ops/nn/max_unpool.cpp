// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: puts values back to where MaxPool found them, zeros elsewhere. Indices are flat over
// the extents that kernel, strides and pads give; with output_shape the result is larger and the
// surplus lies at the end of each axis.
#include <cstring>

#include "ops/shared/elementwise.h"
#include "ops/shared/window.h"

namespace rk::ops {
namespace {

// The output without output_shape.
Result<Shape> natural_shape(const Node& node) {
  const Shape& in = node.input(0).shape();
  const std::vector<int64_t>& kernel = node.ints("kernel_shape");
  if (in.rank() < 3 || in.rank() > 5 || kernel.size() != static_cast<size_t>(in.rank() - 2)) {
    return refuse("input 'x' is ", rk::to_string(in), " and kernel_shape ", to_string(kernel),
                  ", expected rank 3 to 5 and one extent per spatial axis");
  }
  RK_ASSIGN(const Window window, read_window(node, kernel));
  const Extent from = spatial_extent(in);
  Extent to;
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int axis = window.lifted(i);
    to.at(axis) = (from.at(axis) - 1) * window.stride.at(axis) + window.kernel.at(axis) -
                  window.pads.begin(axis) - window.pads.end(axis);
  }
  return Shape::make(picture_dims(in[0], in[1], to, window.spatial_rank));
}

Status max_unpool_infer(InferCall& call) {
  RK_TRY(require_shape(call, 1, call.input(0).shape));
  RK_ASSIGN(const Shape natural, natural_shape(call.node));
  if (!call.has_input(2)) return set_output(call, 0, call.input(0).dtype, natural);
  RK_ASSIGN(const std::vector<int64_t> dims, constant_ints(call, 2));
  RK_ASSIGN(const Shape wanted, Shape::make(dims));
  bool fits = wanted.rank() == natural.rank();
  for (int axis = 0; fits && axis < wanted.rank(); ++axis) fits = wanted[axis] >= natural[axis];
  if (!fits) {
    return refuse("input 2 ('output_shape') is ", rk::to_string(wanted), ", expected at least ",
                  rk::to_string(natural));
  }
  return set_output(call, 0, call.input(0).dtype, wanted);
}

Status max_unpool_reference(const EvalCall& call) {
  RK_ASSIGN(const Shape natural, natural_shape(call.node));
  const Strides strides = row_major_strides(natural);
  Tensor& out = call.output(0);
  const Strides out_strides = row_major_strides(out.shape());
  const size_t element = byte_size(out.dtype());
  uint8_t* y = out.mutable_data<uint8_t>();
  if (out.size_bytes() != 0) std::memset(y, 0, out.size_bytes());
  for (int64_t i = 0; i < call.input(0).elements(); ++i) {
    int64_t rest = call.input(1).at_i64(i);
    if (rest < 0 || rest >= natural.elements()) {
      return invalid_argument(
          str("input 1 ('indices') holds ", rest, ", expected 0 to ", natural.elements() - 1));
    }
    int64_t to = 0;
    for (size_t axis = 0; axis < static_cast<size_t>(natural.rank()); ++axis) {
      to += rest / strides[axis] * out_strides[axis];
      rest %= strides[axis];
    }
    std::memcpy(y + static_cast<size_t>(to) * element,
                call.input(0).data<uint8_t>() + static_cast<size_t>(i) * element, element);
  }
  return ok_status();
}

}  // namespace

OpDef max_unpool() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.front().presence = AttrDef::kRequired;
  return {
      .name = "MaxUnpool",
      .doc = "y = x's values at the places MaxPool took them from, zeros elsewhere",
      .inputs = {{"x", anything()},
                 {"indices", one_of({DType::kI64})},
                 {"output_shape", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = max_unpool_infer,
      .reference = max_unpool_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
