// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <algorithm>

#include "base/checked_math.h"

namespace rk {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  size_t size_bytes;
  int bits = 0;  // of an element in a file, where that is less than its bytes
};

constexpr DTypeRow kDTypes[] = {
    {DType::kF32, "f32", 4},
    {DType::kU8, "u8", 1},
    {DType::kI8, "i8", 1},
    {DType::kU16, "u16", 2},
    {DType::kI16, "i16", 2},
    {DType::kI32, "i32", 4},
    {DType::kI64, "i64", 8},
    {DType::kBool, "bool", 1},
    {DType::kF16, "f16", 2},
    {DType::kF64, "f64", 8},
    {DType::kU32, "u32", 4},
    {DType::kU64, "u64", 8},
    {DType::kBF16, "bf16", 2},
    {DType::kF8E4M3, "f8e4m3", 1},
    {DType::kF8E4M3Uz, "f8e4m3uz", 1},
    {DType::kF8E5M2, "f8e5m2", 1},
    {DType::kF8E5M2Uz, "f8e5m2uz", 1},
    {DType::kU4, "u4", 1, 4},
    {DType::kI4, "i4", 1, 4},
    {DType::kF4, "f4", 1, 4},
    {DType::kF8E8M0, "f8e8m0", 1},
    {DType::kU2, "u2", 1, 2},
    {DType::kI2, "i2", 1, 2},
};

constexpr uint64_t kMaxElements = uint64_t{1} << 31;

}  // namespace

size_t byte_size(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row.size_bytes;
  }
  return 0;
}

std::string_view to_string(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row.name;
  }
  return "undefined";
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == text) return row.dtype;
  }
  return std::nullopt;
}

bool is_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 ||
         dtype == DType::kF64;
}

bool is_small_float(DType dtype) {
  return (dtype >= DType::kF8E4M3 && dtype <= DType::kF8E5M2Uz) || dtype == DType::kF4 ||
         dtype == DType::kF8E8M0;
}

bool is_integer(DType dtype) {
  return dtype != DType::kUndefined && dtype != DType::kBool && !is_float(dtype) &&
         !is_small_float(dtype);
}

int bit_width(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row.bits != 0 ? row.bits : static_cast<int>(8 * row.size_bytes);
  }
  return 0;
}

std::optional<DType> dtype_from_onnx(int64_t number) {
  for (const DTypeRow& row : kDTypes) {
    if (static_cast<int64_t>(row.dtype) == number) return row.dtype;
  }
  return std::nullopt;
}

Shape::Shape(std::initializer_list<int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  RK_ASSERT(dims.size() <= kMaxRank, "rank at most 8");
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

Result<Shape> Shape::make(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    return unsupported(
        str("rank ", dims.size(), " is above the ", kMaxRank, " that tensors may have"));
  }
  // Zero extents count as 1 here, so that a product over some of the axes cannot overflow either.
  std::array<int64_t, kMaxRank> at_least_one{};
  std::ranges::transform(dims, at_least_one.begin(),
                         [](int64_t dim) { return dim == 0 ? 1 : dim; });
  const auto elements = checked_product(std::span(at_least_one).first(dims.size()));
  if (!elements || *elements > kMaxElements) {
    std::string text = "[";
    for (const int64_t dim : dims) text += str(dim, ",");
    return invalid_model(
        str("shape ", text, "]: extents must not be negative and the element count at most 2^31"));
  }
  Shape out;
  out.rank_ = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), out.dims_.begin());
  return out;
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims()) product *= dim;
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(dims(), other.dims());
}

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis != 0) out += ',';
    out += std::to_string(shape[axis]);
  }
  return out + "]";
}

std::string to_string(const TensorType& type) {
  return str(to_string(type.dtype), to_string(type.shape));
}

Result<uint64_t> checked_byte_size(const TensorType& type) {
  const auto elements = checked_product(type.shape.dims());
  const auto bytes = elements ? checked_mul(*elements, byte_size(type.dtype)) : std::nullopt;
  if (!bytes || *bytes > 4 * kMaxObjectBytes) {
    return invalid_model(str("tensor ", to_string(type), " is too large"));
  }
  return *bytes;
}

}  // namespace rk
