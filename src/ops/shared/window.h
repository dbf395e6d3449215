// SPDX-License-Identifier: Apache-2.0
// The sliding window of convolutions and pools, as typed attributes. One to three spatial axes are
// lifted to three: a 1-D operator uses w, a 2-D one h and w; unused axes have extent, kernel,
// stride and dilation 1 and no padding.
#pragma once

#include "ops/shared/shape_util.h"

namespace rk::ops {

struct Extent {
  int64_t d = 1;
  int64_t h = 1;
  int64_t w = 1;

  int64_t& at(int axis) { return axis == 0 ? d : axis == 1 ? h : w; }  // 0: d, 1: h, 2: w
  int64_t at(int axis) const { return axis == 0 ? d : axis == 1 ? h : w; }
  int64_t product() const { return d * h * w; }
  bool operator==(const Extent&) const = default;
};

struct Pads {
  int64_t front = 0;
  int64_t top = 0;
  int64_t left = 0;
  int64_t back = 0;
  int64_t bottom = 0;
  int64_t right = 0;

  int64_t& begin(int axis) { return axis == 0 ? front : axis == 1 ? top : left; }
  int64_t& end(int axis) { return axis == 0 ? back : axis == 1 ? bottom : right; }
  int64_t begin(int axis) const { return axis == 0 ? front : axis == 1 ? top : left; }
  int64_t end(int axis) const { return axis == 0 ? back : axis == 1 ? bottom : right; }
  bool operator==(const Pads&) const = default;
};

struct Window {
  int spatial_rank = 2;
  Extent kernel;
  Extent stride;
  Extent dilation;
  Pads pads;  // auto_pad resolved

  // Kernel extent with its holes.
  int64_t reach(int axis) const { return (kernel.at(axis) - 1) * dilation.at(axis) + 1; }
  // Which of d, h, w is spatial axis i of the operator.
  int lifted(int i) const { return 3 - spatial_rank + i; }
};

// Pads that make out = ceil(in / stride); the odd pixel goes to the end (SAME_UPPER) or the
// beginning.
enum class OddPad { kEnd, kBegin };
void same_pads(const Extent& in, OddPad odd, Window& window);

// The spatial extents of an [N,C,...] shape of rank 3 to 5.
Extent spatial_extent(const Shape& shape);

// Reads and checks strides, dilations and, unless auto_pad says otherwise, pads. `kernel` has one
// extent per spatial axis. SAME_UPPER and SAME_LOWER are left to the caller, as convolutions and
// their transposes differ.
Result<Window> read_window(const Node& node, std::span<const int64_t> kernel);

// Forward operators (Conv, pools): the window with all pads resolved for an input of shape `in`.
Result<Window> resolve_window(const Node& node, std::span<const int64_t> kernel, const Shape& in);

// Output extents of a forward operator; refuses a window larger than the padded input.
Result<Extent> window_output(const Window& window, const Extent& in, bool ceil_mode);

// {N, channels, spatial extents...}, as many as the window has.
std::vector<int64_t> picture_dims(int64_t batch, int64_t channels, const Extent& spatial,
                                  int spatial_rank);

// The attributes that Conv, ConvTranspose and the pools share.
std::vector<AttrDef> window_attrs();

}  // namespace rk::ops
