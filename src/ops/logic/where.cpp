// SPDX-License-Identifier: Apache-2.0
// Where: y = a where the condition holds, b elsewhere, all three broadcast together. Any dtype.
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status where_infer(InferCall& call) {
  RK_ASSIGN(const Shape picked, broadcast_shapes(call.input(1).shape, call.input(2).shape));
  RK_ASSIGN(const Shape shape, broadcast_shapes(call.input(0).shape, picked));
  return set_output(call, 0, call.input(1).dtype, shape);
}

template <typename U>
void select(const EvalCall& call) {
  const Shape& shape = call.output(0).shape();
  const uint8_t* condition = call.input(0).data<uint8_t>();
  const U* a = call.input(1).data<U>();
  const U* b = call.input(2).data<U>();
  U* to = call.output(0).mutable_data<U>();
  const std::array<Strides, 3> strides = {broadcast_strides(call.input(0).shape(), shape),
                                          broadcast_strides(call.input(1).shape(), shape),
                                          broadcast_strides(call.input(2).shape(), shape)};
  for_each_row<3>(shape, strides, [&](const auto& offsets, const auto& steps, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      *to++ = condition[offsets[0] + i * steps[0]] != 0 ? a[offsets[1] + i * steps[1]]
                                                        : b[offsets[2] + i * steps[2]];
    }
  });
}

Status where_reference(const EvalCall& call) {
  switch (byte_size(call.output(0).dtype())) {
    case 1:
      select<uint8_t>(call);
      break;
    case 2:
      select<uint16_t>(call);
      break;
    case 4:
      select<uint32_t>(call);
      break;
    default:
      select<uint64_t>(call);
      break;
  }
  return ok_status();
}

}  // namespace

OpDef where() {
  return {
      .name = "Where",
      .doc = "y = a where condition, b elsewhere, with broadcasting",
      .inputs = {{"condition", booleans()}, {"a", anything()}, {"b", anything().like(1)}},
      .outputs = {{"y"}},
      .infer = where_infer,
      .reference = where_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
