// SPDX-License-Identifier: Apache-2.0
// Abs: the magnitude. Elementwise, any rank; the most negative integer stays what it is.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status abs_compute(const EvalCall& call) {
  return map_number(call.input(0), call.output(0), [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < T{0} ? wrap_sub(T{0}, x) : x;
  });
}

Status abs_reference(const EvalCall& call) { return halves_as_f32(call, abs_compute); }

}  // namespace

OpDef abs() {
  return {
      .name = "Abs",
      .doc = "y = |x|",
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}},
      .infer = infer_number_same_as_input,
      .reference = abs_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
