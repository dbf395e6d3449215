// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/window.h"

#include <algorithm>

#include "base/checked_math.h"

namespace rk::ops {
namespace {

// Larger numbers are never meant; the bound keeps every product below in 64 bits.
constexpr int64_t kMaxAttr = int64_t{1} << 30;

Status read_per_axis(std::span<const int64_t> values, std::string_view name, const Window& window,
                     int64_t least, Extent& out) {
  if (values.empty()) return ok_status();
  if (values.size() != static_cast<size_t>(window.spatial_rank)) {
    return refuse("attribute '", name, "' has ", values.size(), " values, expected ",
                  window.spatial_rank, ", one per spatial axis");
  }
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int64_t value = values[static_cast<size_t>(i)];
    if (value < least || value > kMaxAttr) {
      return refuse("attribute '", name, "' has value ", value, ", expected ", least, " to ",
                    kMaxAttr);
    }
    out.at(window.lifted(i)) = value;
  }
  return ok_status();
}

Status read_pads(const Node& node, Window& window) {
  const std::vector<int64_t>& pads = node.ints("pads");
  if (pads.empty()) return ok_status();
  const auto rank = static_cast<size_t>(window.spatial_rank);
  if (pads.size() != 2 * rank) {
    return refuse("attribute 'pads' has ", pads.size(), " values, expected ", 2 * rank,
                  ": all beginnings, then all ends");
  }
  Extent begin;
  Extent end;
  RK_TRY(read_per_axis(std::span(pads).first(rank), "pads", window, 0, begin));
  RK_TRY(read_per_axis(std::span(pads).last(rank), "pads", window, 0, end));
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int axis = window.lifted(i);
    window.pads.begin(axis) = begin.at(axis);
    window.pads.end(axis) = end.at(axis);
  }
  return ok_status();
}

}  // namespace

void same_pads(const Extent& in, OddPad odd, Window& window) {
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int axis = window.lifted(i);
    const int64_t stride = window.stride.at(axis);
    const int64_t out = (in.at(axis) + stride - 1) / stride;
    const int64_t total =
        std::max<int64_t>(0, (out - 1) * stride + window.reach(axis) - in.at(axis));
    window.pads.begin(axis) = odd == OddPad::kEnd ? total / 2 : total - total / 2;
    window.pads.end(axis) = total - window.pads.begin(axis);
  }
}

Extent spatial_extent(const Shape& shape) {
  Extent out;
  const int spatial_rank = shape.rank() - 2;
  for (int i = 0; i < spatial_rank; ++i) out.at(3 - spatial_rank + i) = shape[2 + i];
  return out;
}

Result<Window> read_window(const Node& node, std::span<const int64_t> kernel) {
  Window window;
  window.spatial_rank = static_cast<int>(kernel.size());
  if (window.spatial_rank < 1 || window.spatial_rank > 3) {
    return unsupported(str(kernel.size(), " spatial axes found; 1 to 3 are supported"));
  }
  RK_TRY(read_per_axis(kernel, "kernel_shape", window, 1, window.kernel));
  if (const auto taps = checked_product(kernel); !taps || *taps > uint64_t{1} << 31) {
    return refuse("kernel ", to_string(kernel), " has more than 2^31 taps");
  }
  RK_TRY(read_per_axis(node.ints("strides"), "strides", window, 1, window.stride));
  RK_TRY(read_per_axis(node.ints("dilations"), "dilations", window, 1, window.dilation));
  RK_TRY(require_one_of(node, "auto_pad", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}));
  if (node.text("auto_pad") == "NOTSET") RK_TRY(read_pads(node, window));
  for (int axis = 0; axis < 3; ++axis) {
    if (window.reach(axis) > kMaxAttr) {
      return refuse("dilated kernel extent ", window.reach(axis), " is above ", kMaxAttr);
    }
  }
  return window;
}

Result<Window> resolve_window(const Node& node, std::span<const int64_t> kernel, const Shape& in) {
  RK_ASSIGN(Window window, read_window(node, kernel));
  const std::string& auto_pad = node.text("auto_pad");
  if (auto_pad == "SAME_UPPER") same_pads(spatial_extent(in), OddPad::kEnd, window);
  if (auto_pad == "SAME_LOWER") same_pads(spatial_extent(in), OddPad::kBegin, window);
  return window;
}

Result<Extent> window_output(const Window& window, const Extent& in, bool ceil_mode) {
  Extent out;
  for (int i = 0; i < window.spatial_rank; ++i) {
    const int axis = window.lifted(i);
    const int64_t padded = in.at(axis) + window.pads.begin(axis) + window.pads.end(axis);
    const int64_t room = padded - window.reach(axis);
    if (room < 0) {
      return refuse("spatial axis ", i, ": kernel extent ", window.reach(axis),
                    " (with dilation) exceeds the padded input extent ", padded);
    }
    const int64_t stride = window.stride.at(axis);
    int64_t extent = room / stride + 1;
    // A last window that starts in the padding at the end is dropped, as it would see no input.
    if (ceil_mode && room % stride != 0 &&
        extent * stride < in.at(axis) + window.pads.begin(axis)) {
      ++extent;
    }
    out.at(axis) = extent;
  }
  return out;
}

std::vector<int64_t> picture_dims(int64_t batch, int64_t channels, const Extent& spatial,
                                  int spatial_rank) {
  std::vector<int64_t> dims = {batch, channels};
  for (int axis = 3 - spatial_rank; axis < 3; ++axis) dims.push_back(spatial.at(axis));
  return dims;
}

std::vector<AttrDef> window_attrs() {
  return {
      {"kernel_shape", std::vector<int64_t>{}, "kernel extent per spatial axis"},
      {"strides", std::vector<int64_t>{}, "step per spatial axis; 1 where not given"},
      {"dilations", std::vector<int64_t>{}, "distance of kernel taps; 1 where not given"},
      {"pads", std::vector<int64_t>{}, "padding: all beginnings, then all ends; 0 where not given"},
      {"auto_pad", "NOTSET",
       "NOTSET uses pads; VALID has none; SAME_UPPER and SAME_LOWER make the "
       "output ceil(input / stride)"},
  };
}

}  // namespace rk::ops
