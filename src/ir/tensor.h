// SPDX-License-Identifier: Apache-2.0
// Tensor: a type and its bytes, row-major. Copies share the bytes; mutable_data() may only be
// called on a tensor whose bytes nobody else holds (a fresh one, or after clone()).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "ir/type.h"

namespace rk {

class Tensor {
 public:
  Tensor() = default;

  // Zeroed. The type's size must have been validated (infer results, verified graphs).
  static Tensor make(const TensorType& type);
  // For sizes from a file: kOutOfMemory or kInvalidModel instead of an abort.
  static Result<Tensor> try_make(const TensorType& type);
  // Copies `bytes`, whose length must be the type's size.
  static Result<Tensor> from_bytes(const TensorType& type, ByteSpan bytes);
  template <typename T>
  static Tensor of(DType dtype, const Shape& shape, const std::vector<T>& values);
  static Tensor f32(const Shape& shape, const std::vector<float>& values);
  static Tensor i64(const Shape& shape, const std::vector<int64_t>& values);
  static Tensor scalar(float value) { return f32({}, {value}); }

  bool empty() const { return bytes_ == nullptr; }
  const TensorType& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int64_t elements() const { return type_.shape.elements(); }
  size_t size_bytes() const { return static_cast<size_t>(elements()) * byte_size(type_.dtype); }

  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes_->data());
  }
  template <typename T>
  T* mutable_data() {
    return reinterpret_cast<T*>(bytes_->data());
  }
  template <typename T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(elements())};
  }
  ByteSpan bytes() const { return {bytes_->data(), size_bytes()}; }

  Tensor clone() const;
  // The same bytes under another shape of as many elements.
  Tensor reshaped(const Shape& shape) const;

  // Any numeric or bool dtype, element by element.
  double at_f64(int64_t index) const;
  int64_t at_i64(int64_t index) const;  // floats are truncated and saturated
  std::vector<int64_t> to_i64() const;
  std::vector<float> to_f32() const;
  // Another dtype, ONNX Cast rules (floats truncate towards zero, to bool: != 0).
  Tensor cast(DType dtype) const;

 private:
  TensorType type_;
  std::shared_ptr<Buffer> bytes_;
};

// Reads one element as double / stores a double with the dtype's rounding (floats) or truncation
// (integers).
double load_f64(DType dtype, const uint8_t* from);
void store_f64(DType dtype, uint8_t* to, double value);
// The same, but in floats of 8 bits what is too large becomes infinity or NaN instead of the largest number.
void store_unsaturated(DType dtype, uint8_t* to, double value);

template <typename T>
Tensor Tensor::of(DType dtype, const Shape& shape, const std::vector<T>& values) {
  RK_ASSERT(byte_size(dtype) == sizeof(T), "element type fits dtype");
  RK_ASSERT(static_cast<size_t>(shape.elements()) == values.size(), "as many values as elements");
  Tensor out = make({dtype, shape});
  if (!values.empty()) std::memcpy(out.mutable_data<T>(), values.data(), out.size_bytes());
  return out;
}

}  // namespace rk
