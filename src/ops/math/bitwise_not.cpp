// SPDX-License-Identifier: Apache-2.0
// BitwiseNot: every bit of an integer tensor turned round.
#include <algorithm>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status bitwise_not_infer(InferCall& call) { return infer_same_as_input(call); }

Status bitwise_not_reference(const EvalCall& call) {
  return with_bits_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    std::ranges::transform(call.input(0).span<T>(), call.output(0).mutable_data<T>(),
                           [](T x) { return static_cast<T>(~x); });
    return ok_status();
  });
}

}  // namespace

OpDef bitwise_not() {
  return {
      .name = "BitwiseNot",
      .doc = "y = the complement of the bits of x",
      .inputs = {{"x", integers()}},
      .outputs = {{"y"}},
      .infer = bitwise_not_infer,
      .reference = bitwise_not_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
