// SPDX-License-Identifier: Apache-2.0
// Layers for pictures: convolutions, pooling, resizing. All compute channels first.
#include <algorithm>

#include "base/checked_math.h"
#include "frontends/channels_last/layers.h"

namespace rk::frontends::layers {
namespace {

// A window or border beyond any real picture; products of two of them fit.
constexpr int64_t kLargest = int64_t{1} << 24;

Status check_window(const Window& window) {
  for (const int64_t extent : {window.kernel, window.stride, window.dilation}) {
    if (extent >= 1 && extent <= kLargest) continue;
    return invalid_model(str("kernel ", window.kernel, ", stride ", window.stride, ", dilation ",
                             window.dilation, ": each must be at least 1"));
  }
  return ok_status();
}

Result<Border> border_of(int64_t extent, const Window& window, const Borders& borders,
                         size_t axis) {
  RK_TRY(check_window(window));
  if (borders.padding == Padding::kValid) return Border{};
  if (borders.padding == Padding::kExplicit) {
    if (axis >= borders.sides.size()) return invalid_model("explicit borders lack an axis");
    const Border side = borders.sides[axis];
    if (side.before < 0 || side.after < 0 || side.before > kLargest || side.after > kLargest) {
      return invalid_model(str("a border of ", side.before, " and ", side.after));
    }
    return side;
  }
  const int64_t results = (extent + window.stride - 1) / window.stride;
  const int64_t reach = (window.kernel - 1) * window.dilation + 1;
  const int64_t total = std::max<int64_t>((results - 1) * window.stride + reach - extent, 0);
  return Border{total / 2, total - total / 2};
}

Status check_spatial(const Value& picture, const Windows& windows) {
  if (picture.shape().rank() == static_cast<int>(windows.size()) + 2) return ok_status();
  return invalid_model(str("'", picture.name(), "' is ", to_string(picture.shape()), "; rank ",
                           windows.size() + 2, " is expected"));
}

struct Extent {
  int64_t h, w;
};

Result<Value*> resized(LayerImport& op, Value* picture, Extent to, AttrMap attrs, Scaling scaling) {
  attrs["coordinate_transformation_mode"] = std::string(scaling.align_corners ? "align_corners"
                                                        : scaling.half_pixel  ? "half_pixel"
                                                                              : "asymmetric");
  const Shape& shape = picture->shape();
  return op.emit(
      "Resize", "/resize",
      {picture, nullptr, nullptr, op.ints_value("/sizes", {shape[0], shape[1], to.h, to.w})},
      std::move(attrs));
}

Status resize(LayerImport& op, AttrMap attrs, Scaling scaling) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(const std::vector<int64_t> size, op.ints(1, "size"));
  if (size.size() != 2)
    return invalid_model(str("size has ", size.size(), " elements, expected 2"));
  RK_ASSIGN(Value* const value,
            resized(op, picture, {size[0], size[1]}, std::move(attrs), scaling));
  return op.bind_moved(0, value, Order::kFirst);
}

}  // namespace

Result<AttrMap> window_attrs(const Value& picture, const Windows& windows, const Borders& borders) {
  RK_TRY(check_spatial(picture, windows));
  std::vector<int64_t> kernels, strides, dilations, before, after;
  for (size_t i = 0; i < windows.size(); ++i) {
    RK_ASSIGN(const Border border,
              border_of(picture.shape()[static_cast<int>(i) + 2], windows[i], borders, i));
    kernels.push_back(windows[i].kernel);
    strides.push_back(windows[i].stride);
    dilations.push_back(windows[i].dilation);
    before.push_back(border.before);
    after.push_back(border.after);
  }
  before.insert(before.end(), after.begin(), after.end());
  return AttrMap{
      {"kernel_shape", kernels}, {"strides", strides}, {"dilations", dilations}, {"pads", before}};
}

Result<Value*> picture_of(LayerImport& op, size_t i) {
  RK_ASSIGN(Value* const picture, op.first(i));
  if (picture->shape().rank() == 4) return picture;
  return invalid_model(str("input '", op.input_name(i), "' is ", to_string(picture->shape()),
                           "; a picture of rank 4 is expected"));
}

Result<Value*> convolved(LayerImport& op, Value* picture, Value* filter, Value* bias,
                         const Windows& windows, const Borders& borders, bool depthwise) {
  RK_ASSIGN(AttrMap attrs, window_attrs(*picture, windows, borders));
  const int64_t channels = picture->shape()[1];
  const int64_t per_group = filter->shape()[1];
  if (per_group < 1 || channels % per_group != 0) {
    return invalid_model(str("a filter over ", per_group, " channels does not divide the ",
                             channels, " of '", op.input_name(0), "'"));
  }
  attrs["group"] = depthwise ? channels : channels / per_group;
  std::vector<Value*> inputs = {picture, filter};
  if (bias != nullptr) inputs.push_back(bias);
  return op.emit("Conv", "/conv", std::move(inputs), std::move(attrs));
}

Result<Value*> transpose_convolved(LayerImport& op, Value* picture, Value* filter, Value* bias,
                                   const Windows& windows, const Borders& borders,
                                   const std::vector<int64_t>& extents) {
  RK_TRY(check_spatial(*picture, windows));
  if (extents.size() != windows.size()) {
    return invalid_model(
        str("output_shape has ", extents.size(), " spatial extents, expected ", windows.size()));
  }
  std::vector<int64_t> kernels, strides, dilations, before, after, more;
  for (size_t i = 0; i < windows.size(); ++i) {
    RK_TRY(check_window(windows[i]));
    if (extents[i] < 1) return invalid_model(str("extent ", extents[i], " must be at least 1"));
    const int64_t reach = (windows[i].kernel - 1) * windows[i].dilation + 1;
    const int64_t full =
        (picture->shape()[static_cast<int>(i) + 2] - 1) * windows[i].stride + reach;
    int64_t total = full - extents[i];
    int64_t start = std::max<int64_t>(total / 2, 0);
    if (borders.padding == Padding::kExplicit) {
      RK_ASSIGN(const Border border, border_of(extents[i], windows[i], borders, i));
      start = border.before;
      total = std::max(total, start);
      if (full - extents[i] < start) more.push_back(start - (full - extents[i]));
    }
    before.push_back(start);
    after.push_back(std::max<int64_t>(total, 0) - start);
    if (more.size() <= i) more.push_back(std::max<int64_t>(-total, 0));
    if (more[i] >= windows[i].stride) {
      return invalid_model(str("output_shape asks for ", extents[i], " where at most ",
                               full - start + windows[i].stride - 1, " can be"));
    }
    kernels.push_back(windows[i].kernel);
    strides.push_back(windows[i].stride);
    dilations.push_back(windows[i].dilation);
  }
  before.insert(before.end(), after.begin(), after.end());
  AttrMap attrs = {{"kernel_shape", kernels},
                   {"strides", strides},
                   {"dilations", dilations},
                   {"pads", before},
                   {"output_padding", more}};
  std::vector<Value*> inputs = {picture, filter};
  if (bias != nullptr) inputs.push_back(bias);
  return op.emit("ConvTranspose", "/conv", std::move(inputs), std::move(attrs));
}

Result<Value*> pooled(LayerImport& op, Value* picture, std::string_view name,
                      const Windows& windows, const Borders& borders) {
  RK_ASSIGN(AttrMap attrs, window_attrs(*picture, windows, borders));
  attrs.erase("dilations");
  return op.emit(name, "/pool", {picture}, std::move(attrs));
}

Result<Value*> resized_linear(LayerImport& op, Value* picture, int64_t height, int64_t width,
                              Scaling scaling) {
  return resized(op, picture, {height, width}, {{"mode", std::string("linear")}}, scaling);
}

Status resize_bilinear(LayerImport& op, Scaling scaling) {
  return resize(op, {{"mode", std::string("linear")}}, scaling);
}

// floor((x + 0.5) * scale) with half pixels is ONNX's rounding up of the shifted position.
Status resize_nearest(LayerImport& op, Scaling scaling) {
  const std::string rule =
      scaling.align_corners || scaling.half_pixel ? "round_prefer_ceil" : "floor";
  return resize(op, {{"mode", std::string("nearest")}, {"nearest_mode", rule}}, scaling);
}

Status space_to_depth(LayerImport& op, int64_t block) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(Value* const value, op.emit("SpaceToDepth", "/s2d", {picture}, {{"blocksize", block}}));
  return op.bind_moved(0, value, Order::kFirst);
}

Status depth_to_space(LayerImport& op, int64_t block) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(Value* const value, op.emit("DepthToSpace", "/d2s", {picture},
                                        {{"blocksize", block}, {"mode", std::string("DCR")}}));
  return op.bind_moved(0, value, Order::kFirst);
}

// The file's alpha is per element, ONNX's is divided by the number of channels.
Status local_response_normalization(LayerImport& op, const LocalResponse& response) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  if (response.radius < 0 || response.radius > 1 << 20) {
    return invalid_model(str("radius ", response.radius));
  }
  const int64_t size = 2 * response.radius + 1;
  RK_ASSIGN(Value* const value, op.emit("LRN", "/lrn", {picture},
                                        {{"size", size},
                                         {"alpha", response.alpha * static_cast<float>(size)},
                                         {"beta", response.beta},
                                         {"bias", response.bias}}));
  return op.bind(0, value, Order::kFirst);
}

Result<Blocks> blocks_of(LayerImport& op, std::string_view what) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const std::vector<int64_t> block, op.ints(1, "block_shape"));
  RK_ASSIGN(const std::vector<int64_t> border, op.ints(2, what));
  const auto outside = [](int64_t n) { return n < 0 || n > kLargest; };
  if (block.size() != 2 || border.size() != 4 || block[0] < 1 || block[1] < 1 ||
      std::ranges::any_of(block, outside) || std::ranges::any_of(border, outside)) {
    return unsupported(str("block_shape with ", block.size(), " and ", what, " with ",
                           border.size(), " elements; blocks of two dimensions are taken"));
  }
  return Blocks{block[0], block[1], border};
}

Status space_to_batch(LayerImport& op, const Blocks& blocks) {
  RK_ASSIGN(Value * value, picture_of(op, 0));
  RK_ASSIGN(value,
            op.emit("Pad", "/pad",
                    {value, op.ints_value("/pads", {0, 0, blocks.border[0], blocks.border[2], 0, 0,
                                                    blocks.border[1], blocks.border[3]})}));
  const Shape s = value->shape();
  if (s[2] % blocks.h != 0 || s[3] % blocks.w != 0) {
    return invalid_model(
        str("blocks of ", blocks.h, " x ", blocks.w, " do not divide ", to_string(s)));
  }
  RK_ASSIGN(value, reshaped(op.builder(), value,
                            {s[0], s[1], s[2] / blocks.h, blocks.h, s[3] / blocks.w, blocks.w},
                            "/blocks"));
  RK_ASSIGN(value, transposed(op.builder(), value, {3, 5, 0, 1, 2, 4}, "/moved"));
  RK_ASSIGN(value, reshaped(op.builder(), value,
                            {s[0] * blocks.h * blocks.w, s[1], s[2] / blocks.h, s[3] / blocks.w},
                            "/batch"));
  return op.bind_moved(0, value, Order::kFirst);
}

Status batch_to_space(LayerImport& op, const Blocks& blocks) {
  RK_ASSIGN(Value * value, picture_of(op, 0));
  const Shape s = value->shape();
  const int64_t batch = s[0] / (blocks.h * blocks.w);
  if (batch * blocks.h * blocks.w != s[0]) {
    return invalid_model(
        str("blocks of ", blocks.h, " x ", blocks.w, " do not divide a batch of ", s[0]));
  }
  RK_ASSIGN(value, reshaped(op.builder(), value, {blocks.h, blocks.w, batch, s[1], s[2], s[3]},
                            "/blocks"));
  RK_ASSIGN(value, transposed(op.builder(), value, {2, 3, 4, 0, 5, 1}, "/moved"));
  const int64_t height = s[2] * blocks.h, width = s[3] * blocks.w;
  RK_ASSIGN(value, reshaped(op.builder(), value, {batch, s[1], height, width}, "/space"));
  RK_ASSIGN(value,
            op.emit("Slice", "/crop",
                    {value, op.ints_value("/starts", {blocks.border[0], blocks.border[2]}),
                     op.ints_value("/ends", {height - blocks.border[1], width - blocks.border[3]}),
                     op.ints_value("/axes", {2, 3})}));
  return op.bind_moved(0, value, Order::kFirst);
}

}  // namespace rk::frontends::layers
