// SPDX-License-Identifier: Apache-2.0
// ReduceMin: the smallest value; a NaN wins. Bool tensors count as 0 and 1.
#include <limits>

#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_min_compute(const EvalCall& call) {
  const DType dtype = call.input(0).dtype() == DType::kBool ? DType::kU8 : call.input(0).dtype();
  return with_number_type(dtype, [&](auto tag) {
    using T = decltype(tag);
    using Limits = std::numeric_limits<T>;
    const T start = Limits::has_infinity ? static_cast<T>(Limits::infinity()) : Limits::max();
    return reduce_as<T, T>(
        call, start, [](T best, T x) { return x < best || x != x ? x : best; },
        [](T best, int64_t) { return best; });
  });
}

Status reduce_min_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_min_compute);
}

}  // namespace

OpDef reduce_min() {
  OpDef def = reduce_def("ReduceMin", "y = smallest value over the axes", reduce_min_reference);
  def.infer = infer_reduce_any;
  def.quant = QuantRule::kSameScaleAsInput;
  return def;
}

}  // namespace rk::ops
