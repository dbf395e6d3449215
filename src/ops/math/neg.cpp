// SPDX-License-Identifier: Apache-2.0
// Neg: y = -x. Elementwise, any rank; the most negative integer stays what it is.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status neg_compute(const EvalCall& call) {
  return map_number(call.input(0), call.output(0), [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return wrap_sub(T{0}, x);
  });
}

Status neg_reference(const EvalCall& call) { return halves_as_f32(call, neg_compute); }

}  // namespace

OpDef neg() {
  return {
      .name = "Neg",
      .doc = "y = -x",
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}},
      .infer = infer_number_same_as_input,
      .reference = neg_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
