// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/caller_view.h"

#include <algorithm>

#include "program/native_layout.h"

namespace rk::runtime {
namespace {

using program::ProgramTensor;

constexpr uint32_t kMaxRows = 1u << 20;

bool holds_reals(const ProgramTensor& tensor) {
  return tensor.quantized() || is_float(tensor.dtype);
}

Status invalid_input(std::string message) { return {Code::kInvalidInput, std::move(message)}; }
Status invalid_output(std::string message) { return {Code::kInvalidOutput, std::move(message)}; }

// What a view of one sample touches, and what that many samples do. Blocks are converted whole, lanes beyond the last
// channel too.
void set_bytes(const PictureExtents& extents, int64_t batch, CallerView& out) {
  const auto element = static_cast<uint64_t>(byte_size(out.view.dtype));
  out.sample_bytes = static_cast<uint64_t>(extents.n * out.view.strides.n) * element;
  const uint64_t touched =
      static_cast<uint64_t>(span_elements(extents, out.view.strides)) * element;
  out.needed_bytes = (out.blocked ? std::max(touched, out.sample_bytes) : touched) +
                     static_cast<uint64_t>(batch - 1) * out.sample_bytes;
}

Strides native_strides(const ProgramTensor& tensor, const PictureExtents& extents, int64_t c2) {
  Strides strides = blocked_strides(extents, c2);
  // The chip may reserve more channel planes than the channels need.
  strides.n = int64_t{tensor.native_shape[1]} * strides.c1;
  return strides;
}

// Rows of the chip's stride where the memory has room for them, else dense rows.
Strides picture_strides(const ProgramTensor& tensor, const PictureExtents& extents,
                        const InputQuestion& q, uint64_t element_bytes) {
  Padding padding{.w_stride = 0, .h_stride = q.format.h_stride};
  const TensorAttr attr = input_attr(tensor, 0, AttrView::kNativeNhwc);
  const int64_t w_stride = attr.w_stride;
  const int64_t rows = q.batch * extents.n * std::max<int64_t>(extents.h, q.format.h_stride);
  const auto padded_bytes = static_cast<uint64_t>(rows * w_stride * extents.c) * element_bytes;
  if (w_stride > extents.w && q.available_bytes >= padded_bytes) padding.w_stride = w_stride;
  return nhwc_strides(extents, padding);
}

Result<CallerView> native_input_view(const ProgramTensor& tensor, const InputQuestion& q) {
  const PictureExtents extents = picture_extents(tensor.shape);
  CallerView out;
  out.view = {tensor.dtype, tensor.scale, tensor.zero_point, {}, nullptr};
  const TensorAttr native = input_attr(tensor, 0, AttrView::kNative);
  switch (native.format) {
    case TensorFormat::kNhwc:
      out.view.strides = picture_strides(tensor, extents, q, byte_size(tensor.dtype));
      break;
    case TensorFormat::kNc1hwc2:
      out.view.strides = native_strides(tensor, extents, native_c2(tensor));
      out.blocked = true;
      break;
    case TensorFormat::kNchw:
    case TensorFormat::kUndefined:
      out.view.strides = nchw_strides(extents);
  }
  set_bytes(extents, q.batch, out);
  return out;
}

}  // namespace

bool board_binds_input(DType model, DType caller) {
  if (caller == model) return true;
  if (model == DType::kI8) return caller == DType::kU8 || caller == DType::kF32;
  if (model == DType::kF16)
    return caller == DType::kF32 || caller == DType::kU8 || caller == DType::kI8;
  return false;
}

bool board_binds_output(DType model, DType caller) {
  if (caller == model) return true;
  if (model == DType::kI8) return caller == DType::kF16 || caller == DType::kF32;
  return model == DType::kF16 && caller == DType::kF32;
}

Result<CallerView> input_view(const ProgramTensor& tensor, const InputQuestion& q) {
  if (q.format.h_stride != 0 && (tensor.shape.rank() != 4 || q.format.h_stride < tensor.shape[2] ||
                                 q.format.h_stride > kMaxRows)) {
    return invalid_input(str("input '", tensor.name, "': h_stride ", q.format.h_stride,
                             " must be 0 or at least the height, and only pictures have one"));
  }
  if (q.format.pass_through) return native_input_view(tensor, q);
  if (byte_size(q.format.dtype) == 0)
    return invalid_input(str("input '", tensor.name, "': unknown element type"));
  if (q.strict && q.bound && !board_binds_input(tensor.dtype, q.format.dtype)) {
    return invalid_input(str("input '", tensor.name, "' is ", to_string(tensor.dtype),
                             ": a board does not bind ", to_string(q.format.dtype), " to it"));
  }
  const PictureExtents extents = picture_extents(tensor.shape);
  CallerView out;
  out.view.dtype = q.format.dtype;
  out.normalize = holds_reals(tensor);
  const bool four = tensor.shape.rank() == 4;
  if (!four || q.format.format == TensorFormat::kUndefined) {
    out.view.strides = nchw_strides(extents);
  } else if (q.format.format == TensorFormat::kNchw) {
    if (q.strict && program::is_picture(tensor.shape) && holds_reals(tensor)) {
      return invalid_input(
          str("input '", tensor.name, "': only support NHWC src layout, found NCHW"));
    }
    out.view.strides = nchw_strides(extents, {.w_stride = 0, .h_stride = q.format.h_stride});
  } else {
    // NHWC. NC1HWC2 without pass_through is the attribute of the native query given back unchanged:
    // the data is NHWC then too, and is converted (user guide 5.2.3).
    out.view.strides = q.bound
                           ? picture_strides(tensor, extents, q, byte_size(q.format.dtype))
                           : nhwc_strides(extents, {.w_stride = 0, .h_stride = q.format.h_stride});
  }
  if (q.bound && tensor.quantized() && q.format.dtype == tensor.dtype) {
    // Bound int8 memory of an int8 model holds values that the caller has quantized already.
    out.view.scale = tensor.scale;
    out.view.zero_point = tensor.zero_point;
    out.normalize = false;
  }
  set_bytes(extents, q.batch, out);
  return out;
}

Result<CallerView> output_view(const ProgramTensor& tensor, const CallerFormat& format,
                               int64_t batch) {
  const PictureExtents extents = picture_extents(tensor.shape);
  CallerView out;
  out.view.dtype = format.dtype;
  if (format.dtype == tensor.dtype) {
    out.view.scale = tensor.scale;
    out.view.zero_point = tensor.zero_point;
  } else if (!is_float(format.dtype) && (holds_reals(tensor) || byte_size(format.dtype) == 0)) {
    return invalid_output(str("output '", tensor.name, "' is ", to_string(tensor.dtype),
                              ": ask for that, f32 or f16, not ", to_string(format.dtype)));
  }
  const bool four = tensor.shape.rank() == 4;
  if (!four || format.format == TensorFormat::kUndefined || format.format == TensorFormat::kNchw) {
    out.view.strides = nchw_strides(extents);
  } else if (format.format == TensorFormat::kNhwc) {
    out.view.strides = nhwc_strides(extents);
  } else {
    const int64_t c2 = native_c2(tensor);
    if (c2 == 0)
      return invalid_output(str("output '", tensor.name, "' has no NC1HWC2 form: ask for NCHW"));
    out.view.strides = native_strides(tensor, extents, c2);
    out.blocked = true;
  }
  set_bytes(extents, batch, out);
  return out;
}

ChannelAffine input_affine(const ProgramTensor& tensor, const program::InputInfo& info) {
  if (tensor.shape.rank() != 4 || !holds_reals(tensor)) return {};
  const auto channels = static_cast<size_t>(tensor.shape[1]);
  // Beyond four channels the chip has one pair for all of them (docs/facts/operators.md, section 5.1).
  const size_t entries = channels > 4 ? 1 : channels;
  const auto pick = [](const std::vector<float>& values, size_t c, float otherwise) {
    if (values.empty()) return otherwise;
    return values[c < values.size() ? c : 0];
  };
  ChannelAffine affine(entries);
  bool changes = false;
  for (size_t c = 0; c < entries; ++c) {
    affine[c] = {pick(info.mean, c, 0.0f), pick(info.std, c, 1.0f)};
    changes = changes || affine[c].mean != 0.0f || affine[c].stddev != 1.0f;
  }
  return changes ? affine : ChannelAffine{};
}

}  // namespace rk::runtime
