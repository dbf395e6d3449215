// SPDX-License-Identifier: Apache-2.0
// Moving elements between two places that differ in dtype, quantization or order: what the caller gives or wants
// against what the executor holds. Every border of a session goes through convert(): set and bound inputs, read and
// bound outputs, operands of operators that run in float, dumps.
//
// Note: an int8 view without a scale holds plain numbers -128..127; an int8 view with a scale holds
// quantized values. Bytes are copied unchanged only between views of equal dtype and equal quantization.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "ir/type.h"
#include "kernels/layout/quantize.h"

namespace rk::runtime {

// Numbered as rknn_tensor_format.
enum class TensorFormat : uint8_t { kNchw = 0, kNhwc = 1, kNc1hwc2 = 2, kUndefined = 3 };

std::string_view to_string(TensorFormat format);

// Logical extents of a picture; a tensor of another rank is one row of all its elements.
struct PictureExtents {
  int64_t n = 1, c = 1, h = 1, w = 1;
  int64_t elements() const { return n * c * h * w; }
  bool operator==(const PictureExtents&) const = default;
};
PictureExtents picture_extents(const Shape& shape);

// Element (n, c, h, w) lies at n * sn + c / c2 * sc1 + c % c2 * sc2 + h * sh + w * sw, counted in elements. Every
// order in use has this form: NCHW has c2 = 1, NHWC has c2 = C.
struct Strides {
  int64_t n = 0, c1 = 0, c2 = 0, h = 0, w = 0;
  int64_t block = 1;
  int64_t at(int64_t in, int64_t ic, int64_t ih, int64_t iw) const {
    return in * n + ic / block * c1 + ic % block * c2 + ih * h + iw * w;
  }
};

struct ElementView {
  DType dtype = DType::kUndefined;
  float scale = 0;  // 0: not quantized
  int32_t zero_point = 0;
  Strides strides;
  uint8_t* data = nullptr;  // a source is not written

  bool same_quantization(const ElementView& other) const {
    return scale == other.scale && (scale == 0 || zero_point == other.zero_point);
  }
};

// Padding of the caller's memory. Zeroes mean none.
struct Padding {
  int64_t w_stride = 0;  // pixels from one row to the next
  int64_t h_stride = 0;  // rows from one picture of a batch to the next
};

Strides nchw_strides(const PictureExtents& extents, Padding padding = {});
Strides nhwc_strides(const PictureExtents& extents, Padding padding = {});
Strides blocked_strides(const PictureExtents& extents, int64_t c2);  // NC1HWC2, dense

// One past the last element that a view with these strides touches, in elements. Cannot overflow for extents of a
// verified tensor and strides that were range-checked.
int64_t span_elements(const PictureExtents& extents, const Strides& strides);

// (x - mean) / stddev for each channel before quantization; empty: x itself. With fewer entries than channels the
// first one serves them all (docs/facts/operators.md, 5.1: more than four channels take mean[0] and std[0]).
using ChannelAffine = std::vector<kernels::BorderAffine>;

// Converts every element. Quantized to quantized of another scale goes through float. Numbers that do not fit an
// integer dtype saturate; to bool: != 0. `pool` may be null. The two may not overlap unless they are the same view.
void convert(const PictureExtents& extents, const ElementView& from, const ElementView& to,
             const ChannelAffine& affine, ThreadPool* pool);

}  // namespace rk::runtime
