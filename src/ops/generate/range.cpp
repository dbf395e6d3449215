// SPDX-License-Identifier: Apache-2.0
// Range: start, start + delta, ... below (or above) limit. All three are constants, as they give
// the length.
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Result<int64_t> length_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  if (is_integer(start.dtype())) {
    // In unsigned steps: the difference of two i64 always fits u64.
    const int64_t from = start.at_i64(0);
    const int64_t to = limit.at_i64(0);
    const int64_t step = delta.at_i64(0);
    if (step == 0) return refuse("input 2 ('delta') is 0, expected another number");
    if (step > 0 ? from >= to : from <= to) return int64_t{0};
    const uint64_t distance = step > 0 ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                       : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
    const uint64_t stride =
        step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    return static_cast<int64_t>(std::min<uint64_t>((distance - 1) / stride + 1, INT64_MAX));
  }
  const double length = std::ceil((limit.at_f64(0) - start.at_f64(0)) / delta.at_f64(0));
  if (!std::isfinite(length) || length > 2147483648.0) {
    return refuse("start ", start.at_f64(0), ", limit ", limit.at_f64(0), " and delta ",
                  delta.at_f64(0), " give no finite range");
  }
  return static_cast<int64_t>(std::max(0.0, length));
}

Status range_infer(InferCall& call) {
  for (size_t i = 0; i < 3; ++i) {
    RK_TRY(require_same_dtype(call, 0, i));
    RK_TRY(constant_number(call, i).status());
  }
  RK_ASSIGN(const int64_t length,
            length_of(*call.constant(0), *call.constant(1), *call.constant(2)));
  return set_output(call, 0, call.input(0).dtype, std::array{length});
}

Status range_reference(const EvalCall& call) {
  Tensor& out = call.output(0);
  const int64_t length = out.elements();
  if (is_integer(out.dtype())) {
    return with_number_type(out.dtype(), [&](auto tag) {
      using T = decltype(tag);
      T* y = out.mutable_data<T>();
      T value = *call.input(0).data<T>();
      for (int64_t i = 0; i < length; ++i, value = wrap_add(value, *call.input(2).data<T>()))
        y[i] = value;
      return ok_status();
    });
  }
  const size_t step = byte_size(out.dtype());
  uint8_t* to = out.mutable_data<uint8_t>();
  for (int64_t i = 0; i < length; ++i) {
    store_f64(out.dtype(), to + static_cast<size_t>(i) * step,
              call.input(0).at_f64(0) + static_cast<double>(i) * call.input(2).at_f64(0));
  }
  return ok_status();
}

}  // namespace

OpDef range() {
  return {
      .name = "Range",
      .doc = "y = start, start + delta, ... up to limit, which is not reached",
      .inputs = {{"start", numbers()}, {"limit", numbers().like(0)}, {"delta", numbers().like(0)}},
      .outputs = {{"y"}},
      .infer = range_infer,
      .reference = range_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
