// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: turns the first sequence_lens[b] time steps of each batch entry around; the rest
// stays. Any dtype.
#include <cstring>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status reverse_sequence_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "batch_axis", 0, 1));
  RK_TRY(require_range(call.node, "time_axis", 0, 1));
  if (call.node.i64("batch_axis") == call.node.i64("time_axis")) {
    return refuse("attributes 'batch_axis' and 'time_axis' are both ", call.node.i64("time_axis"));
  }
  RK_TRY(require_shape(call, 1,
                       Shape{call.input(0).shape[static_cast<int>(call.node.i64("batch_axis"))]}));
  return infer_same_as_input(call);
}

Status reverse_sequence_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  const Shape& shape = x.shape();
  const bool batch_first = call.node.i64("batch_axis") == 0;
  const int64_t batch = shape[batch_first ? 0 : 1];
  const int64_t steps = shape[batch_first ? 1 : 0];
  const size_t row =
      static_cast<size_t>(extent_product(shape, 2, shape.rank())) * byte_size(x.dtype());
  if (x.size_bytes() == 0) return ok_status();
  const auto at = [&](int64_t b, int64_t t) {
    return static_cast<size_t>(batch_first ? b * steps + t : t * batch + b) * row;
  };
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = call.input(1).at_i64(b);
    if (length < 0 || length > steps) {
      return invalid_argument(
          str("input 1 ('sequence_lens') holds ", length, ", expected 0 to ", steps));
    }
    for (int64_t t = 0; t < steps; ++t) {
      std::memcpy(y + at(b, t), x.data<uint8_t>() + at(b, t < length ? length - 1 - t : t), row);
    }
  }
  return ok_status();
}

}  // namespace

OpDef reverse_sequence() {
  return {
      .name = "ReverseSequence",
      .doc = "y = x with the first steps of each batch entry turned around",
      .inputs = {{"x", anything().rank(2, kMaxRank)}, {"sequence_lens", indices()}},
      .outputs = {{"y"}},
      .attrs = {{"batch_axis", int64_t{1}, "0 or 1"},
                {"time_axis", int64_t{0}, "0 or 1, not batch_axis"}},
      .infer = reverse_sequence_infer,
      .reference = reverse_sequence_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
  };
}

}  // namespace rk::ops
