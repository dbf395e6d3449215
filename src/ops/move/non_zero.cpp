// SPDX-License-Identifier: Apache-2.0
// NonZero: the indices of elements other than zero, one column each, in row-major order. Room for
// all elements; see bounded.h.
#include "ops/shared/bounded.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

// Row-major positions of what is not zero; NaN is not zero.
std::vector<int64_t> positions(const Tensor& x) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (is_integer(x.dtype()) ? x.at_i64(i) != 0 : x.at_f64(i) != 0) out.push_back(i);
  }
  return out;
}

Status non_zero_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  const Tensor* known = call.constant(0);
  const int64_t columns =
      known != nullptr ? static_cast<int64_t>(positions(*known).size()) : in.elements();
  // Numpy, which the standard refers to, takes a scalar as one element on one axis.
  const std::vector<int64_t> dims = {std::max(in.rank(), 1), columns};
  RK_TRY(set_output(call, 0, DType::kI64, dims));
  return set_count_type(call);
}

Status non_zero_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const Strides strides = row_major_strides(in);
  const std::vector<int64_t> found = positions(call.input(0));
  fill_indices(call.output(0));
  int64_t* y = call.output(0).mutable_data<int64_t>();
  const int64_t columns = call.output(0).shape()[1];
  for (int axis = 0; axis < std::max(in.rank(), 1); ++axis) {
    for (size_t i = 0; i < found.size(); ++i) {
      y[axis * columns + static_cast<int64_t>(i)] =
          in.rank() == 0 ? 0 : found[i] / strides[static_cast<size_t>(axis)] % in[axis];
    }
  }
  store_count(call, static_cast<int64_t>(found.size()));
  return ok_status();
}

Cost non_zero_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef non_zero() {
  return {
      .name = "NonZero",
      .doc = "indices of the elements other than zero, one column each; unused columns hold -1",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}, count_output()},
      .infer = non_zero_infer,
      .reference = non_zero_reference,
      .cost = non_zero_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
