// SPDX-License-Identifier: Apache-2.0
#include "capi/attributes.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace rk::capi {
namespace {

struct TypePair {
  DType dtype;
  rknn_tensor_type type;
};
constexpr TypePair kTypes[] = {
    {DType::kF32, RKNN_TENSOR_FLOAT32},  {DType::kF16, RKNN_TENSOR_FLOAT16},
    {DType::kI8, RKNN_TENSOR_INT8},      {DType::kU8, RKNN_TENSOR_UINT8},
    {DType::kI16, RKNN_TENSOR_INT16},    {DType::kU16, RKNN_TENSOR_UINT16},
    {DType::kI32, RKNN_TENSOR_INT32},    {DType::kU32, RKNN_TENSOR_UINT32},
    {DType::kI64, RKNN_TENSOR_INT64},    {DType::kBool, RKNN_TENSOR_BOOL},
    {DType::kBF16, RKNN_TENSOR_BFLOAT16}};

uint32_t to_u32(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

rknn_tensor_type to_rknn_type(DType dtype) {
  if (dtype == DType::kI4) return RKNN_TENSOR_INT4;  // of matrices only
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.type;
  }
  return RKNN_TENSOR_TYPE_MAX;
}

std::optional<DType> from_rknn_type(rknn_tensor_type type) {
  for (const TypePair& pair : kTypes) {
    if (pair.type == type) return pair.dtype;
  }
  return std::nullopt;
}

std::optional<runtime::TensorFormat> from_rknn_format(rknn_tensor_format format) {
  switch (format) {
    case RKNN_TENSOR_NCHW:
      return runtime::TensorFormat::kNchw;
    case RKNN_TENSOR_NHWC:
      return runtime::TensorFormat::kNhwc;
    case RKNN_TENSOR_NC1HWC2:
      return runtime::TensorFormat::kNc1hwc2;
    case RKNN_TENSOR_UNDEFINED:
      return runtime::TensorFormat::kUndefined;
    default:
      return std::nullopt;
  }
}

void copy_text(char* to, size_t capacity, std::string_view text) {
  const size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, capacity - length);
}

rknn_tensor_attr to_rknn_attr(const runtime::TensorAttr& attr) {
  rknn_tensor_attr out;
  std::memset(&out, 0, sizeof out);
  out.index = attr.index;
  out.n_dims = to_u32(attr.dims.size());
  std::copy(attr.dims.begin(), attr.dims.end(), out.dims);
  copy_text(out.name, sizeof out.name, attr.name);
  out.n_elems = to_u32(attr.elements);
  out.size = to_u32(attr.size_bytes);
  out.fmt = static_cast<rknn_tensor_format>(attr.format);
  out.type = to_rknn_type(attr.dtype);
  out.qnt_type = attr.affine ? RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC : RKNN_TENSOR_QNT_NONE;
  out.zp = attr.zero_point;
  out.scale = attr.scale;
  out.w_stride = attr.w_stride;
  out.size_with_stride = to_u32(attr.size_with_stride_bytes);
  return out;
}

}  // namespace rk::capi
