// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "base/checked_math.h"
#include "base/half.h"
#include "base/small_float.h"

namespace rk {
namespace {

// Double to an integer type: truncated, saturated, NaN gives 0. A bare cast would be undefined out
// of range.
template <typename T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

// The same for the integers of 2 and 4 bits.
int8_t to_narrow(double value, double least, double most) {
  return to_integer<int8_t>(std::isnan(value) ? 0 : std::clamp(value, least, most));
}

// The low bits of `value`, for integers narrower than their byte; others are cut by the copy.
int64_t wrapped(int64_t value, DType dtype) {
  const int unused = 64 - bit_width(dtype);
  const auto high = static_cast<int64_t>(static_cast<uint64_t>(value) << unused);
  if (dtype == DType::kU4 || dtype == DType::kU2) {
    return static_cast<int64_t>(static_cast<uint64_t>(high) >> unused);
  }
  return high >> unused;
}

const SmallFloat* small_format(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3:
      return &kFloat8E4M3Fn;
    case DType::kF8E4M3Uz:
      return &kFloat8E4M3FnUz;
    case DType::kF8E5M2:
      return &kFloat8E5M2;
    case DType::kF8E5M2Uz:
      return &kFloat8E5M2FnUz;
    case DType::kF4:
      return &kFloat4E2M1;
    default:
      return nullptr;
  }
}

template <typename T>
void put(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

double load_f64(DType dtype, const uint8_t* from) {
  switch (dtype) {
    case DType::kF32:
      return load<float>(from);
    case DType::kF64:
      return load<double>(from);
    case DType::kF16:
      return half_to_float(load<uint16_t>(from));
    case DType::kBF16:
      return bfloat16_to_float(load<uint16_t>(from));
    case DType::kI8:
      return load<int8_t>(from);
    case DType::kU8:
      return load<uint8_t>(from);
    case DType::kI16:
      return load<int16_t>(from);
    case DType::kU16:
      return load<uint16_t>(from);
    case DType::kI32:
      return load<int32_t>(from);
    case DType::kU32:
      return load<uint32_t>(from);
    case DType::kI64:
      return static_cast<double>(load<int64_t>(from));
    case DType::kU64:
      return static_cast<double>(load<uint64_t>(from));
    case DType::kBool:
      return load<uint8_t>(from) != 0;
    case DType::kF8E4M3:
    case DType::kF8E4M3Uz:
    case DType::kF8E5M2:
    case DType::kF8E5M2Uz:
    case DType::kF4:
      return small_to_float(*small_format(dtype), load<uint8_t>(from));
    case DType::kF8E8M0:
      return power_to_float(load<uint8_t>(from));
    case DType::kU4:
    case DType::kU2:
      return load<uint8_t>(from);
    case DType::kI4:
    case DType::kI2:
      return load<int8_t>(from);
    case DType::kUndefined:
      break;
  }
  return 0;
}

void store_f64(DType dtype, uint8_t* to, double value) {
  switch (dtype) {
    case DType::kF32:
      return put(to, static_cast<float>(value));
    case DType::kF64:
      return put(to, value);
    case DType::kF16:
      return put(to, float_to_half(static_cast<float>(value)));
    case DType::kBF16:
      return put(to, float_to_bfloat16(static_cast<float>(value)));
    case DType::kI8:
      return put(to, to_integer<int8_t>(value));
    case DType::kU8:
      return put(to, to_integer<uint8_t>(value));
    case DType::kI16:
      return put(to, to_integer<int16_t>(value));
    case DType::kU16:
      return put(to, to_integer<uint16_t>(value));
    case DType::kI32:
      return put(to, to_integer<int32_t>(value));
    case DType::kU32:
      return put(to, to_integer<uint32_t>(value));
    case DType::kI64:
      return put(to, to_integer<int64_t>(value));
    case DType::kU64:
      return put(to, to_integer<uint64_t>(value));
    case DType::kBool:
      return put(to, static_cast<uint8_t>(value != 0));
    case DType::kF8E4M3:
    case DType::kF8E4M3Uz:
    case DType::kF8E5M2:
    case DType::kF8E5M2Uz:
    case DType::kF4:
      return put(to, float_to_small(*small_format(dtype), value, true));
    case DType::kF8E8M0:
      return put(to, float_to_power(value, true, PowerRounding::kUp));
    case DType::kU4:
      return put(to, to_narrow(value, 0, 15));
    case DType::kI4:
      return put(to, to_narrow(value, -8, 7));
    case DType::kU2:
      return put(to, to_narrow(value, 0, 3));
    case DType::kI2:
      return put(to, to_narrow(value, -2, 1));
    case DType::kUndefined:
      break;
  }
}

void store_unsaturated(DType dtype, uint8_t* to, double value) {
  const SmallFloat* format = small_format(dtype);
  if (format != nullptr) return put(to, float_to_small(*format, value, false));
  if (dtype == DType::kF8E8M0) return put(to, float_to_power(value, false, PowerRounding::kUp));
  store_f64(dtype, to, value);
}

Tensor Tensor::make(const TensorType& type) {
  auto out = try_make(type);
  if (out.status().code() == Code::kOutOfMemory) throw std::bad_alloc();
  RK_ASSERT(out.ok(), "a tensor of validated size");
  return std::move(out).value();
}

Result<Tensor> Tensor::try_make(const TensorType& type) {
  RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(type));
  // Kernels may read a vector past the last element: keep room behind it.
  RK_ASSIGN(Buffer bytes, Buffer::try_make(size_bytes + 64, 4 * kMaxObjectBytes + 64));
  Tensor out;
  out.type_ = type;
  out.bytes_ = std::make_shared<Buffer>(std::move(bytes));
  return out;
}

Result<Tensor> Tensor::from_bytes(const TensorType& type, ByteSpan bytes) {
  RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(type));
  if (bytes.size() != size_bytes) {
    return invalid_model(
        str("tensor ", to_string(type), " needs ", size_bytes, " bytes, found ", bytes.size()));
  }
  RK_ASSIGN(Tensor out, try_make(type));
  if (!bytes.empty()) std::memcpy(out.mutable_data<uint8_t>(), bytes.data(), bytes.size());
  return out;
}

Tensor Tensor::f32(const Shape& shape, const std::vector<float>& values) {
  return of(DType::kF32, shape, values);
}

Tensor Tensor::i64(const Shape& shape, const std::vector<int64_t>& values) {
  return of(DType::kI64, shape, values);
}

Tensor Tensor::clone() const {
  Tensor out;
  out.type_ = type_;
  out.bytes_ = std::make_shared<Buffer>(bytes_->clone());
  return out;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  RK_ASSERT(shape.elements() == elements(), "reshape keeps the element count");
  Tensor out = *this;
  out.type_.shape = shape;
  return out;
}

double Tensor::at_f64(int64_t index) const {
  return load_f64(dtype(), bytes_->data() + static_cast<size_t>(index) * byte_size(dtype()));
}

int64_t Tensor::at_i64(int64_t index) const {
  const uint8_t* from = bytes_->data() + static_cast<size_t>(index) * byte_size(dtype());
  if (dtype() == DType::kI64) return load<int64_t>(from);  // exact beyond 2^53
  if (dtype() == DType::kU64) return static_cast<int64_t>(load<uint64_t>(from));
  return to_integer<int64_t>(load_f64(dtype(), from));
}

std::vector<int64_t> Tensor::to_i64() const {
  std::vector<int64_t> out(static_cast<size_t>(elements()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = at_i64(static_cast<int64_t>(i));
  return out;
}

std::vector<float> Tensor::to_f32() const {
  std::vector<float> out(static_cast<size_t>(elements()));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(at_f64(static_cast<int64_t>(i)));
  return out;
}

Tensor Tensor::cast(DType to) const {
  if (to == dtype()) return *this;
  Tensor out = make({to, shape()});
  auto* data = out.mutable_data<uint8_t>();
  // Floats wrap, too, into integers of less than a byte: what is beyond is undefined there, and
  // this is what others do.
  const bool exact_integers = is_integer(to) && (is_integer(dtype()) || bit_width(to) < 8);
  for (int64_t i = 0; i < elements(); ++i) {
    uint8_t* element = data + static_cast<size_t>(i) * byte_size(to);
    if (exact_integers) {
      // Wraps as C does, which is what exporters rely on for i64 -> i32.
      const int64_t value = wrapped(at_i64(i), to);
      std::memcpy(element, &value, byte_size(to));
    } else {
      store_f64(to, element, at_f64(i));
    }
  }
  return out;
}

}  // namespace rk
