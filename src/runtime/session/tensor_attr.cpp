// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/tensor_attr.h"

#include <algorithm>

#include "base/checked_math.h"
#include "program/native_layout.h"

namespace rk::runtime {
namespace {

using program::ProgramTensor;

std::vector<uint32_t> logical_dims(const ProgramTensor& tensor) {
  std::vector<uint32_t> dims;
  for (const int64_t extent : tensor.shape.dims()) dims.push_back(static_cast<uint32_t>(extent));
  return dims;
}

uint64_t product(const std::vector<uint32_t>& dims) {
  uint64_t out = 1;
  for (const uint32_t extent : dims) out *= extent;
  return out;
}

TensorAttr common(const ProgramTensor& tensor, uint32_t index) {
  TensorAttr out;
  out.index = index;
  out.name = tensor.name;
  out.dtype = tensor.dtype;
  out.affine = tensor.quantized() || tensor.dtype == DType::kF16;
  if (tensor.quantized()) {
    out.zero_point = tensor.zero_point;
    out.scale = tensor.scale;
  }
  return out;
}

void set_nhwc(const ProgramTensor& tensor, TensorAttr& out) {
  const std::vector<uint32_t> d = logical_dims(tensor);
  out.format = TensorFormat::kNhwc;
  out.dims = {d[0], d[2], d[3], d[1]};
}

void set_model_order(const ProgramTensor& tensor, TensorAttr& out) {
  out.format = tensor.shape.rank() == 4 ? TensorFormat::kNchw : TensorFormat::kUndefined;
  out.dims = logical_dims(tensor);
}

// NC1HWC2 where the tensor has such a form, else the model's order.
void set_native(const ProgramTensor& tensor, TensorAttr& out) {
  if (native_c2(tensor) == 0) return set_model_order(tensor, out);
  out.format = TensorFormat::kNc1hwc2;
  out.dims.clear();
  for (const int32_t extent : tensor.native_shape)
    out.dims.push_back(static_cast<uint32_t>(extent));
}

void set_sizes(const ProgramTensor& tensor, TensorAttr& out) {
  out.elements = product(out.dims);
  out.size_bytes = out.elements * byte_size(tensor.dtype);
  uint64_t strided = out.size_bytes;
  if (out.w_stride != 0 && out.format == TensorFormat::kNhwc && out.dims[2] != 0) {
    strided = out.size_bytes / out.dims[2] * out.w_stride;
  }
  out.size_with_stride_bytes = std::max(strided, tensor.size_bytes);
}

uint32_t row_stride(const ProgramTensor& tensor) {
  return static_cast<uint32_t>(align_up<uint64_t>(
      static_cast<uint64_t>(tensor.shape[3]), std::clamp<uint64_t>(tensor.width_align, 1, 4096)));
}

}  // namespace

int64_t native_c2(const ProgramTensor& tensor) {
  const std::vector<int32_t>& native = tensor.native_shape;
  if (tensor.layout != program::Layout::kNc1hwc2 || tensor.shape.rank() != 4 || native.size() != 5)
    return 0;
  const Shape& s = tensor.shape;
  const int64_t c1 = native[1], c2 = native[4];
  // A file may say anything; a shape that does not cover the tensor is not used.
  const bool fits = c1 > 0 && c2 > 0 && c1 <= s[1] + 64 && c2 <= 4096 && c1 * c2 >= s[1] &&
                    native[0] == s[0] && native[2] == s[2] && native[3] == s[3];
  return fits ? c2 : 0;
}

TensorAttr of_batch(TensorAttr attr, int64_t batch) {
  if (batch == 1 || attr.dims.empty()) return attr;
  const auto samples = static_cast<uint64_t>(batch);
  attr.dims.front() *= static_cast<uint32_t>(batch);
  attr.elements *= samples;
  attr.size_bytes *= samples;
  attr.size_with_stride_bytes *= samples;
  return attr;
}

TensorAttr input_attr(const ProgramTensor& tensor, uint32_t index, AttrView view) {
  TensorAttr out = common(tensor, index);
  const bool picture = program::is_picture(tensor.shape) &&
                       (tensor.quantized() || is_float(tensor.dtype) ||
                        tensor.dtype == DType::kI8 || tensor.dtype == DType::kU8);
  if (tensor.shape.rank() != 4) {
    set_model_order(tensor, out);
  } else if (view == AttrView::kNative && !picture) {
    set_native(tensor, out);
  } else {
    set_nhwc(tensor, out);
  }
  if (out.format == TensorFormat::kNhwc) out.w_stride = row_stride(tensor);
  set_sizes(tensor, out);
  return out;
}

TensorAttr output_attr(const ProgramTensor& tensor, uint32_t index, AttrView view) {
  TensorAttr out = common(tensor, index);
  if (view == AttrView::kNative) {
    set_native(tensor, out);
  } else if (view == AttrView::kNativeNhwc && tensor.shape.rank() == 4) {
    set_nhwc(tensor, out);
  } else {
    set_model_order(tensor, out);
  }
  set_sizes(tensor, out);
  return out;
}

}  // namespace rk::runtime
