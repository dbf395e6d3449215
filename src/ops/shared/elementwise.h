// SPDX-License-Identifier: Apache-2.0
// Shared by operators whose output element depends on the inputs' elements at the same (broadcast)
// place. Integer arithmetic wraps like the hardware's; nothing here is undefined for any input.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/shared/precision.h"
#include "ops/shared/shape_util.h"

namespace rk::ops {

Status infer_same_as_input(InferCall& call);         // any dtype
Status infer_number_same_as_input(InferCall& call);  // not bool
Status infer_float_same_as_input(InferCall& call);   // float dtypes only
Status infer_broadcast(InferCall& call);             // all inputs of one number dtype
Status infer_compare(InferCall& call);               // like infer_broadcast, bool output
Status infer_logical(InferCall& call);               // bool inputs and output
Status infer_bitwise(InferCall& call);               // like infer_broadcast, integers only
Cost elementwise_cost(const Node& node);             // one operation per output element
Cost no_cost(const Node& node);                      // only moves data

// Calls body(T{}) with the unsigned C++ type as wide as `dtype`, which is how bits are looked at
// and elements moved.
template <typename Body>
Status with_bits_type(DType dtype, Body body) {
  switch (byte_size(dtype)) {
    case 1:
      return body(uint8_t{});
    case 2:
      return body(uint16_t{});
    case 4:
      return body(uint32_t{});
    default:
      return body(uint64_t{});
  }
}

// Calls body(T{}) with the C++ type of `dtype`; kUnsupported for f16 and bf16 (see precision.h) and
// bool.
template <typename Body>
Status with_number_type(DType dtype, Body body) {
  switch (dtype) {
    case DType::kF32:
      return body(float{});
    case DType::kF64:
      return body(double{});
    case DType::kI8:
      return body(int8_t{});
    case DType::kU8:
      return body(uint8_t{});
    case DType::kI16:
      return body(int16_t{});
    case DType::kU16:
      return body(uint16_t{});
    case DType::kI32:
      return body(int32_t{});
    case DType::kU32:
      return body(uint32_t{});
    case DType::kI64:
      return body(int64_t{});
    case DType::kU64:
      return body(uint64_t{});
    default:
      return unsupported(str("dtype ", to_string(dtype), " has no arithmetic here"));
  }
}

// y[i] = f(x[i]) for f32 tensors; other float dtypes go through f32 element by element.
template <typename F>
Status map_f32(const Tensor& in, Tensor& out, F f) {
  const int64_t count = in.elements();
  if (in.dtype() == DType::kF32 && out.dtype() == DType::kF32) {
    const float* x = in.data<float>();
    float* y = out.mutable_data<float>();
    for (int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
    return ok_status();
  }
  const size_t step = byte_size(out.dtype());
  uint8_t* y = out.mutable_data<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    store_f64(out.dtype(), y + static_cast<size_t>(i) * step, f(static_cast<float>(in.at_f64(i))));
  }
  return ok_status();
}

// y[i] = f(x[i]) in the tensor's own type; f16 and bf16 must have been widened.
template <typename F>
Status map_number(const Tensor& in, Tensor& out, F f) {
  return with_number_type(in.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const T* x = in.data<T>();
    T* y = out.mutable_data<T>();
    const int64_t count = in.elements();
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(f(x[i]));
    return ok_status();
  });
}

// out = f(a, b) with broadcasting; element types A, B and R are those of the tensors.
template <typename A, typename B, typename R, typename F>
void broadcast_binary(const Tensor& a, const Tensor& b, Tensor& out, F f) {
  const A* pa = a.data<A>();
  const B* pb = b.data<B>();
  R* to = out.mutable_data<R>();
  const std::array<Strides, 2> strides = {broadcast_strides(a.shape(), out.shape()),
                                          broadcast_strides(b.shape(), out.shape())};
  for_each_row<2>(out.shape(), strides, [&](const auto& offsets, const auto& steps, int64_t count) {
    const A* x = pa + offsets[0];
    const B* y = pb + offsets[1];
    for (int64_t i = 0; i < count; ++i) *to++ = f(x[i * steps[0]], y[i * steps[1]]);
  });
}

// The usual arithmetic operator: both inputs and the output of one dtype.
template <typename F>
Status binary_number(const EvalCall& call, F f) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    broadcast_binary<T, T, T>(call.input(0), call.input(1), call.output(0),
                              [&](T a, T b) { return static_cast<T>(f(a, b)); });
    return ok_status();
  });
}

// The same with a bool output. Bool inputs compare as bytes.
template <typename F>
Status compare_numbers(const EvalCall& call, F f) {
  const DType dtype = call.input(0).dtype() == DType::kBool ? DType::kU8 : call.input(0).dtype();
  return with_number_type(dtype, [&](auto tag) {
    using T = decltype(tag);
    broadcast_binary<T, T, uint8_t>(call.input(0), call.input(1), call.output(0),
                                    [&](T a, T b) { return static_cast<uint8_t>(f(a, b)); });
    return ok_status();
  });
}

// Bits of integers, whatever their sign.
template <typename F>
Status bitwise_binary(const EvalCall& call, F f) {
  return with_bits_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    broadcast_binary<T, T, T>(call.input(0), call.input(1), call.output(0),
                              [&](T a, T b) { return static_cast<T>(f(a, b)); });
    return ok_status();
  });
}

template <typename F>
Status logical_binary(const EvalCall& call, F f) {
  broadcast_binary<uint8_t, uint8_t, uint8_t>(
      call.input(0), call.input(1), call.output(0),
      [&](uint8_t a, uint8_t b) { return static_cast<uint8_t>(f(a != 0, b != 0)); });
  return ok_status();
}

// One output of any number of inputs, folded from the left: out = f(f(in0, in1), in2) ...
template <typename F>
Status fold_number(const EvalCall& call, F f) {
  return with_number_type(call.output(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    Tensor& out = call.output(0);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor& in = call.input(i);
      broadcast_binary<T, T, T>(out, in, out, [&](T so_far, T next) {
        return i == 0 ? next : static_cast<T>(f(so_far, next));
      });
    }
    return ok_status();
  });
}

// Sums, differences and products that wrap for integers.
template <typename T>
T wrap_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <typename T>
T wrap_sub(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <typename T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace rk::ops
