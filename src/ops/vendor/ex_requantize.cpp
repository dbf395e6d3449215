// SPDX-License-Identifier: Apache-2.0
// exRequantize: the last stages of an int8 product of the vendor's, on sums that float32 holds
// exactly: v = rne(rne(x * first_scale / 2^first_shift) * scale / 2^shift), y = unit * (sat8(v +
// zero_point) - zero_point).
#include <algorithm>

#include "base/fixed_point.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

constexpr int64_t kMaxScale = 32767, kMaxShift = 50;

Status ex_requantize_infer(InferCall& call) {
  for (const char* name : {"first_scale", "scale"}) {
    if (const int64_t scale = call.node.i64(name); scale < 0 || scale > kMaxScale)
      return refuse(name, " is ", scale, ", expected 0 to ", kMaxScale);
  }
  for (const char* name : {"first_shift", "shift"}) {
    if (const int64_t shift = call.node.i64(name); shift < 0 || shift > kMaxShift)
      return refuse(name, " is ", shift, ", expected 0 to ", kMaxShift);
  }
  if (const int64_t zero = call.node.i64("zero_point"); zero < INT8_MIN || zero > INT8_MAX)
    return refuse("zero_point is ", zero, ", expected -128 to 127");
  return infer_float_same_as_input(call);
}

// Sums have 32 bits.
int64_t to_sum(float x) {
  constexpr float kLimit = 2147483648.0f;
  return x == x ? static_cast<int64_t>(std::clamp(x, -kLimit, kLimit)) : 0;
}

Status ex_requantize_compute(const EvalCall& call) {
  const int64_t first_scale = call.node.i64("first_scale"), scale = call.node.i64("scale");
  const int first_shift = static_cast<int>(call.node.i64("first_shift"));
  const int shift = static_cast<int>(call.node.i64("shift"));
  const int64_t zero = call.node.i64("zero_point");
  const float unit = call.node.f32("unit");
  const float* const x = call.input(0).data<float>();
  float* const y = call.output(0).mutable_data<float>();
  call.parallel_for(call.input(0).elements(), 4096, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t first = scale_round(to_sum(x[i]), first_scale, first_shift);
      const int64_t v = scale_round(first, scale, shift) + zero;
      y[i] = unit * static_cast<float>(std::clamp<int64_t>(v, INT8_MIN, INT8_MAX) - zero);
    }
  });
  return ok_status();
}

Status ex_requantize_reference(const EvalCall& call) { return in_f32(call, ex_requantize_compute); }

}  // namespace

OpDef ex_requantize() {
  return {
      .name = "exRequantize",
      .doc = "y = unit * int8(x * first_scale / 2^first_shift * scale / 2^shift), rounded twice",
      .inputs = {{"x", floats()}},
      .outputs = {{"y"}},
      .attrs = {{"first_scale", int64_t{1}, "scale of the stage before the last"},
                {"first_shift", int64_t{0}, "its shift"},
                {"scale", int64_t{1}, "scale of the last stage"},
                {"shift", int64_t{0}, "its shift"},
                {"zero_point", int64_t{0}, "added before the result is limited to int8"},
                {"unit", 1.0f, "what one step of the result counts"}},
      .infer = ex_requantize_infer,
      .reference = ex_requantize_reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
      .elements = Elements::kUnary,
  };
}

}  // namespace rk::ops
