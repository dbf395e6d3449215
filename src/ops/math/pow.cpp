// SPDX-License-Identifier: Apache-2.0
// Pow: y = a ^ b with broadcasting. The output has the base's dtype; the exponent may have another
// one.
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status pow_infer(InferCall& call) {
  RK_ASSIGN(const Shape shape, broadcast_shapes(call.input(0).shape, call.input(1).shape));
  return set_output(call, 0, call.input(0).dtype, shape);
}

// Exact modulo 2^64, where a double would round beyond 2^53.
int64_t integer_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  int64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}

Status pow_reference(const EvalCall& call) {
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  Tensor& out = call.output(0);
  if (is_integer(a.dtype()) && is_integer(b.dtype())) {
    const Tensor base = a.cast(DType::kI64);
    const Tensor exponent = b.cast(DType::kI64);
    return with_number_type(out.dtype(), [&](auto tag) {
      using T = decltype(tag);
      broadcast_binary<int64_t, int64_t, T>(base, exponent, out, [](int64_t x, int64_t n) {
        return static_cast<T>(integer_pow(x, n));
      });
      return ok_status();
    });
  }
  const Tensor base = a.cast(DType::kF64);
  const Tensor exponent = b.cast(DType::kF64);
  Tensor wide = Tensor::make({DType::kF64, out.shape()});
  broadcast_binary<double, double, double>(base, exponent, wide,
                                           [](double x, double n) { return std::pow(x, n); });
  const size_t step = byte_size(out.dtype());
  uint8_t* to = out.mutable_data<uint8_t>();
  for (const double value : wide.span<double>()) {
    store_f64(out.dtype(), to, value);
    to += step;
  }
  return ok_status();
}

}  // namespace

OpDef pow() {
  return {
      .name = "Pow",
      .doc = "y = a ^ b with broadcasting",
      .inputs = {{"a", numbers()}, {"b", numbers()}},
      .outputs = {{"y"}},
      .infer = pow_infer,
      .reference = pow_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kOwnScale,
      .elements = Elements::kBroadcast,
  };
}

}  // namespace rk::ops
