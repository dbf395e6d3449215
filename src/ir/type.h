// SPDX-License-Identifier: Apache-2.0
// DType, Shape, QuantParams: the types of values. Shapes are always static and logical (NCHW for
// pictures); chip-native layouts appear only in program/.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace rk {

// Numbered as ONNX TensorProto and as the dtype byte of a .rknn tensor, so neither needs a table.
enum class DType : uint8_t {
  kUndefined = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kBF16 = 16,
  // Below: one byte per element in memory; files pack the 4- and 2-bit ones.
  kF8E4M3 = 17,    // no infinity, NaN 0x7f
  kF8E4M3Uz = 18,  // no infinity, no negative zero, NaN 0x80
  kF8E5M2 = 19,
  kF8E5M2Uz = 20,
  kU4 = 21,
  kI4 = 22,
  kF4 = 23,
  kF8E8M0 = 24,  // powers of two, for scales
  kU2 = 25,
  kI2 = 26,
};

size_t byte_size(DType dtype);            // 0 for kUndefined
std::string_view to_string(DType dtype);  // "f32", "i8", ...
std::optional<DType> parse_dtype(std::string_view text);
bool is_float(DType dtype);        // those that are computed with: 16 to 64 bits
bool is_small_float(DType dtype);  // 8 and 4 bits: stored and converted only
bool is_integer(DType dtype);      // bool is not; 2 and 4 bits are
int bit_width(DType dtype);        // in a file; in memory an element takes byte_size()
std::optional<DType> dtype_from_onnx(int64_t number);

inline constexpr int kMaxRank = 8;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);  // for shapes of our own making
  // Refuses negative extents, rank above 8 and element counts that overflow or exceed 2^31.
  static Result<Shape> make(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t elements() const;  // 1 for a scalar
  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

std::string to_string(const Shape& shape);  // "[1,3,320,320]", "[]"

struct TensorType {
  DType dtype = DType::kUndefined;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

std::string to_string(const TensorType& type);  // "f32[1,3,320,320]"
Result<uint64_t> checked_byte_size(const TensorType& type);

// Affine quantization: x = (q - zero_point) * scale. One pair for the whole tensor, or one per
// index of `axis`.
struct QuantParams {
  DType dtype = DType::kI8;
  int axis = -1;  // -1: whole tensor
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
  std::vector<float>
      min;  // the range the scale was made from; empty when the model brought its own scale
  std::vector<float> max;

  bool per_channel() const { return axis >= 0; }
  bool operator==(const QuantParams&) const = default;
};

}  // namespace rk
