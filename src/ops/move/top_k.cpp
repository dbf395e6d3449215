// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest (or smallest) values along one axis with their indices; of equal values the
// lower index first. Where k is computed at run time there is room for the whole axis; see
// bounded.h.
#include <algorithm>
#include <numeric>

#include "ops/shared/bounded.h"
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status top_k_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  int64_t k = in[axis];
  if (call.constant(1) != nullptr) {
    RK_ASSIGN(k, constant_int(call, 1));
  } else {
    RK_TRY(require_index(call, 1));
    RK_TRY(require_shape(call, 1, Shape{1}));
  }
  if (k < 0 || k > in[axis]) {
    return refuse("input 1 ('k') is ", k, ", expected 0 to ", in[axis], ", the extent of axis ",
                  axis);
  }
  Shape out = in;
  out[axis] = k;
  RK_TRY(set_output(call, 0, call.input(0).dtype, out));
  RK_TRY(set_output(call, 1, DType::kI64, out));
  return set_count_type(call);
}

template <typename T>
void select(const EvalCall& call, int axis) {
  const AxisSplit split = split_at(call.input(0).shape(), axis);
  const int64_t room = call.output(0).shape()[axis];
  const int64_t k = std::clamp<int64_t>(call.input(1).at_i64(0), 0, room);
  const bool largest = call.node.i64("largest") != 0;
  const T* x = call.input(0).data<T>();
  T* values = call.output(0).mutable_data<T>();
  int64_t* indices = call.outputs.size() > 1 ? call.output(1).mutable_data<int64_t>() : nullptr;
  std::vector<int64_t> order(static_cast<size_t>(split.extent));
  for (int64_t o = 0; o < split.outer; ++o) {
    for (int64_t i = 0; i < split.inner; ++i) {
      const T* row = x + o * split.extent * split.inner + i;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
        const T va = row[a * split.inner];
        const T vb = row[b * split.inner];
        // A NaN sorts as the largest value, so that the order stays a strict one.
        const bool nan_a = va != va;
        const bool nan_b = vb != vb;
        if (nan_a || nan_b) return nan_a == nan_b ? a < b : nan_a == largest;
        if (va != vb) return largest ? va > vb : va < vb;
        return a < b;
      });
      for (int64_t n = 0; n < room; ++n) {
        const int64_t at = (o * room + n) * split.inner + i;
        const int64_t from = n < k ? order[static_cast<size_t>(n)] : kNoIndex;
        values[at] = from == kNoIndex ? T{0} : row[from * split.inner];
        if (indices != nullptr) indices[at] = from;
      }
    }
  }
  store_count(call, k);
}

Status top_k_compute(const EvalCall& call) {
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), call.input(0).shape().rank()));
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    select<decltype(tag)>(call, axis);
    return ok_status();
  });
}

Status top_k_reference(const EvalCall& call) { return halves_as_f32(call, top_k_compute); }

Cost top_k_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef top_k() {
  return {
      .name = "TopK",
      .doc = "the k largest or smallest values along an axis, and their indices",
      .inputs = {{"x", numbers()}, {"k", integers()}},
      .outputs = {{"values"}, {"indices", ArgDef::kOptional}, count_output()},
      .attrs = {{"axis", int64_t{-1}, "axis to search; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"largest", int64_t{1}, "1: largest values; 0: smallest"},
                {"sorted", int64_t{1}, "0 allows any order; the result is sorted all the same"}},
      .infer = top_k_infer,
      .reference = top_k_reference,
      .cost = top_k_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
