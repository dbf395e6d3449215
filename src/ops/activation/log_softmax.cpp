// SPDX-License-Identifier: Apache-2.0
// LogSoftmax: x - log(sum of exp(x)) along one axis; not the logarithm of Softmax's rounded result.
#include "ops/activation/softmax.h"

namespace rk::ops {
namespace {

Status log_softmax_compute(const EvalCall& call) { return softmax_f32(call, log_softmax_of); }

Status log_softmax_reference(const EvalCall& call) { return in_f32(call, log_softmax_compute); }

}  // namespace

OpDef log_softmax() {
  return {
      .name = "LogSoftmax",
      .doc = "y = x - log(sum of exp(x)) along an axis",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "axis of the sum; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput}},
      .infer = infer_softmax,
      .reference = log_softmax_reference,
      .cost = softmax_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
