// SPDX-License-Identifier: Apache-2.0
// What the global pools share: [N,C,...] to [N,C,1,...].
#pragma once

#include "ops/shared/elementwise.h"

namespace rk::ops {

// Of the input's dtype, which the caller has checked.
inline Status infer_global_pool(InferCall& call) {
  RK_TRY(require_rank(call, 0, 2));
  const Shape& in = call.input(0).shape;
  if (extent_product(in, 2, in.rank()) == 0) {
    return refuse("input 'x' is ", rk::to_string(in), ", expected spatial extents above 0");
  }
  Shape out = in;
  for (int axis = 2; axis < out.rank(); ++axis) out[axis] = 1;
  return set_output(call, 0, call.input(0).dtype, out);
}

// y[i] = reduce(all elements of plane i).
template <typename T, typename Reduce>
void pool_planes(const EvalCall& call, Reduce reduce) {
  const Shape& in = call.input(0).shape();
  const auto plane = static_cast<size_t>(extent_product(in, 2, in.rank()));
  const std::span<const T> x = call.input(0).span<T>();
  T* y = call.output(0).mutable_data<T>();
  for (size_t i = 0; i < static_cast<size_t>(call.output(0).elements()); ++i) {
    y[i] = reduce(x.subspan(i * plane, plane));
  }
}

inline Cost global_pool_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace rk::ops
