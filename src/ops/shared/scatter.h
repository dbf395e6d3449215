// SPDX-License-Identifier: Apache-2.0
// What ScatterElements and ScatterND share: how an update meets the old value, for every dtype.
#pragma once

#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {

// Dtypes and attribute `reduction`; shapes differ between the operators.
inline Status check_scatter(const InferCall& call) {
  RK_TRY(require_index(call, 1));
  RK_TRY(require_same_dtype(call, 0, 2));
  RK_TRY(require_one_of(call.node, "reduction", {"none", "add", "mul", "max", "min"}));
  return call.node.text("reduction") == "none" ? ok_status() : require_number(call, 0);
}

// Copies x and calls scatter(T{}, combine), which stores combine(old, update) in each place. T is
// the element type, or an unsigned integer of its width where elements are only moved.
template <typename Scatter>
Status scatter_into_copy(const EvalCall& call, Scatter scatter) {
  copy_bytes(call.input(0), call.output(0));
  const std::string& reduction = call.node.text("reduction");
  const DType dtype = call.input(0).dtype();
  if (reduction == "none") {
    return with_bits_type(
        dtype, [&](auto tag) { return scatter(tag, [](auto, auto update) { return update; }); });
  }
  return with_number_type(dtype, [&](auto tag) {
    using T = decltype(tag);
    if (reduction == "add") return scatter(tag, wrap_add<T>);
    if (reduction == "mul") return scatter(tag, wrap_mul<T>);
    if (reduction == "max") return scatter(tag, [](T a, T b) { return std::max(a, b); });
    return scatter(tag, [](T a, T b) { return std::min(a, b); });
  });
}

// `body` as it is where elements are moved, with half floats widened where they are combined.
inline Status scatter_reference(const EvalCall& call, Reference body) {
  return call.node.text("reduction") == "none" ? body(call) : halves_as_f32(call, body);
}

inline AttrDef scatter_reduction_attr() {
  return {"reduction", "none", "how an update meets the old value: none, add, mul, max or min"};
}

}  // namespace rk::ops
