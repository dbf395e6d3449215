// SPDX-License-Identifier: Apache-2.0
// Clip: y = min(max(x, low), high). The bounds are optional scalar inputs; where both cross, the
// upper bound wins.
#include <limits>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status clip_infer(InferCall& call) {
  for (size_t i = 1; i <= 2; ++i) {
    if (!call.has_input(i)) continue;
    RK_TRY(require_same_dtype(call, 0, i));
    if (call.input(i).shape.elements() != 1) {
      return refuse("input ", i, " ('", input_name(call, i), "') is ", rk::to_string(call.input(i)),
                    ", expected one element");
    }
  }
  return infer_same_as_input(call);
}

Status clip_compute(const EvalCall& call) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    using Limits = std::numeric_limits<T>;
    const T low = call.has_input(1)      ? *call.input(1).data<T>()
                  : Limits::has_infinity ? static_cast<T>(-Limits::infinity())
                                         : Limits::lowest();
    const T high = call.has_input(2)      ? *call.input(2).data<T>()
                   : Limits::has_infinity ? Limits::infinity()
                                          : Limits::max();
    const T* x = call.input(0).data<T>();
    T* y = call.output(0).mutable_data<T>();
    for (int64_t i = 0; i < call.input(0).elements(); ++i) {
      const T raised = x[i] < low ? low : x[i];  // the comparisons keep a NaN
      y[i] = raised > high ? high : raised;
    }
    return ok_status();
  });
}

Status clip_reference(const EvalCall& call) { return halves_as_f32(call, clip_compute); }

}  // namespace

OpDef clip() {
  return {
      .name = "Clip",
      .doc = "y = min(max(x, low), high); an absent bound does not limit",
      .inputs = {{"x", numbers()},
                 {"low", numbers().like(0), ArgDef::kOptional},
                 {"high", numbers().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .infer = clip_infer,
      .reference = clip_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
