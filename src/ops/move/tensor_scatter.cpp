// SPDX-License-Identifier: Apache-2.0
// TensorScatter: a cache with `update` written along one axis from an index per batch on. Linear
// writes must fit, circular ones wrap round to the beginning. Any dtype.
#include <cstring>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status tensor_scatter_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "mode", {"linear", "circular"}));
  const Shape& cache = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), cache.rank()));
  if (axis == 0) return refuse("attribute 'axis' names the batch axis 0");
  Shape expected = cache;
  const Shape& update = call.input(1).shape;
  if (update.rank() == cache.rank() && update[axis] <= cache[axis]) expected[axis] = update[axis];
  RK_TRY(require_shape(call, 1, expected));
  if (call.has_input(2)) {
    RK_TRY(require_index(call, 2));
    RK_TRY(require_shape(call, 2, Shape{cache[0]}));
  }
  return infer_same_as_input(call);
}

Status tensor_scatter_reference(const EvalCall& call) {
  const Shape& cache = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), cache.rank()));
  const bool circular = call.node.text("mode") == "circular";
  const AxisSplit to = split_at(cache, axis);
  const int64_t count = call.input(1).shape()[axis];
  const size_t row = static_cast<size_t>(to.inner) * byte_size(call.input(0).dtype());
  copy_bytes(call.input(0), call.output(0));
  if (cache.elements() == 0) return ok_status();
  const uint8_t* from = call.input(1).data<uint8_t>();
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (int64_t o = 0; o < to.outer; ++o) {
    const int64_t batch = o / (to.outer / cache[0]);
    const int64_t start = call.has_input(2) ? call.input(2).at_i64(batch) : 0;
    const int64_t last = circular ? to.extent - 1 : to.extent - count;
    if (start < 0 || start > last) {
      return invalid_argument(
          str("input 2 ('write_indices') holds ", start, ", expected 0 to ", last));
    }
    for (int64_t i = 0; i < count; ++i, from += row) {
      std::memcpy(y + static_cast<size_t>(o * to.extent + (start + i) % to.extent) * row, from,
                  row);
    }
  }
  return ok_status();
}

}  // namespace

OpDef tensor_scatter() {
  return {
      .name = "TensorScatter",
      .doc = "y = the cache with update written from an index per batch on",
      .inputs = {{"past_cache", anything().rank(2, kMaxRank)},
                 {"update", anything().like(0)},
                 {"write_indices", indices(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-2}, "axis that is written along; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"mode", "linear", "'linear', or 'circular': past the end goes on at the start"}},
      .infer = tensor_scatter_infer,
      .reference = tensor_scatter_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
