// SPDX-License-Identifier: Apache-2.0
// Layers for pictures: convolutions, pooling, resizing. All compute channels first.
#include <algorithm>

#include "base/checked_math.h"
#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {
namespace {

struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1;
};

struct Border {
  int64_t before = 0, after = 0;
};

// SAME: ceil(extent / stride) results, the odd element of border at the end. VALID: none.
Result<Border> border_of(int64_t extent, const Window& window, int8_t padding) {
  if (window.stride < 1 || window.dilation < 1 || window.kernel < 1) {
    return invalid_model(str("kernel ", window.kernel, ", stride ", window.stride, ", dilation ",
                             window.dilation, ": each must be at least 1"));
  }
  if (padding == 1) return Border{};
  if (padding != 0) {
    return invalid_model(str("padding number ", static_cast<int>(padding), "; SAME is 0, VALID is 1"));
  }
  const int64_t results = (extent + window.stride - 1) / window.stride;
  const int64_t reach = (window.kernel - 1) * window.dilation + 1;
  const int64_t total = std::max<int64_t>((results - 1) * window.stride + reach - extent, 0);
  return Border{total / 2, total - total / 2};
}

struct Windows {
  Window h, w;
};

Result<AttrMap> window_attrs(const Value& picture, const Windows& windows, int8_t padding) {
  RK_ASSIGN(const Border h, border_of(picture.shape()[2], windows.h, padding));
  RK_ASSIGN(const Border w, border_of(picture.shape()[3], windows.w, padding));
  AttrMap attrs;
  attrs["kernel_shape"] = std::vector<int64_t>{windows.h.kernel, windows.w.kernel};
  attrs["strides"] = std::vector<int64_t>{windows.h.stride, windows.w.stride};
  attrs["dilations"] = std::vector<int64_t>{windows.h.dilation, windows.w.dilation};
  attrs["pads"] = std::vector<int64_t>{h.before, w.before, h.after, w.after};
  return attrs;
}

Result<Value*> picture_of(OpImport& op, size_t i) {
  RK_ASSIGN(Value* const picture, op.first(i));
  if (picture->shape().rank() == 4) return picture;
  return invalid_model(str("input '", op.input(i).name, "' is ", to_string(picture->shape()),
                           "; a picture of rank 4 is expected"));
}

Status convolution(OpImport& op, const std::vector<int64_t>& perm, bool depthwise,
                   int activation_slot, int dilation_slot) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(Value* const filter, op.weights(1, perm));
  RK_ASSIGN(const auto padding, op.option<int8_t>(0, 0));
  Windows windows;
  windows.h.kernel = filter->shape()[2];
  windows.w.kernel = filter->shape()[3];
  RK_ASSIGN(windows.w.stride, op.option<int32_t>(1, 0));
  RK_ASSIGN(windows.h.stride, op.option<int32_t>(2, 0));
  RK_ASSIGN(windows.w.dilation, op.option<int32_t>(dilation_slot, 1));
  RK_ASSIGN(windows.h.dilation, op.option<int32_t>(dilation_slot + 1, 1));
  RK_ASSIGN(AttrMap attrs, window_attrs(*picture, windows, padding));
  const int64_t channels = picture->shape()[1];
  const int64_t per_group = filter->shape()[1];
  if (per_group < 1 || channels % per_group != 0) {
    return invalid_model(str("a filter over ", per_group, " channels does not divide the ",
                             channels, " of '", op.input(0).name, "'"));
  }
  attrs["group"] = depthwise ? channels : channels / per_group;
  std::vector<Value*> inputs = {picture, filter};
  if (op.has(2)) {
    RK_ASSIGN(Value* const bias, op.weights(2, {0}));
    inputs.push_back(bias);
  }
  RK_ASSIGN(Value * value, op.emit("Conv", "/conv", std::move(inputs), std::move(attrs)));
  RK_ASSIGN(const auto activation, op.option<int8_t>(activation_slot, 0));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst, Rounding::kTwice);
}

Result<Windows> pool_windows(OpImport& op) {
  Windows windows;
  RK_ASSIGN(windows.w.stride, op.option<int32_t>(1, 0));
  RK_ASSIGN(windows.h.stride, op.option<int32_t>(2, 0));
  RK_ASSIGN(windows.w.kernel, op.option<int32_t>(3, 0));
  RK_ASSIGN(windows.h.kernel, op.option<int32_t>(4, 0));
  return windows;
}

Result<Value*> pooled(OpImport& op, Value* picture, std::string_view name) {
  RK_ASSIGN(const Windows windows, pool_windows(op));
  RK_ASSIGN(const auto padding, op.option<int8_t>(0, 0));
  RK_ASSIGN(AttrMap attrs, window_attrs(*picture, windows, padding));
  attrs.erase("dilations");
  return op.emit(name, "/pool", {picture}, std::move(attrs));
}

Status pool(OpImport& op, std::string_view name) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(Value * value, pooled(op, picture, name));
  RK_ASSIGN(const auto activation, op.option<int8_t>(5, 0));
  if (activation == 0 && name == "MaxPool") return op.bind_moved(0, value, Order::kFirst);
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst);
}

Status resize(OpImport& op, AttrMap attrs, bool align_corners, bool half_pixel) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(const std::vector<int64_t> size, op.ints(1, "size"));
  if (size.size() != 2) return invalid_model(str("size has ", size.size(), " elements, expected 2"));
  attrs["coordinate_transformation_mode"] =
      std::string(align_corners ? "align_corners" : half_pixel ? "half_pixel" : "asymmetric");
  const Shape& shape = picture->shape();
  RK_ASSIGN(Value* const value,
            op.emit("Resize", "/resize",
                    {picture, nullptr, nullptr,
                     op.ints_value("/sizes", {shape[0], shape[1], size[0], size[1]})},
                    std::move(attrs)));
  return op.bind_moved(0, value, Order::kFirst);
}

}  // namespace

// Filters lie as [out, h, w, in]; depthwise ones as [1, h, w, out].
Status conv_2d(OpImport& op) { return convolution(op, {0, 3, 1, 2}, false, 3, 4); }
Status depthwise_conv_2d(OpImport& op) { return convolution(op, {3, 0, 1, 2}, true, 4, 5); }

// Inputs: the result's shape, the filter [out, h, w, in], the picture, a bias.
Status transpose_conv(OpImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const std::vector<int64_t> shape, op.ints(0, "output_shape"));
  RK_ASSIGN(Value* const filter, op.weights(1, {3, 0, 1, 2}));
  RK_ASSIGN(Value* const picture, picture_of(op, 2));
  if (shape.size() != 4) return invalid_model("output_shape must have 4 elements");
  RK_ASSIGN(const int64_t stride_w, op.option<int32_t>(1, 0));
  RK_ASSIGN(const int64_t stride_h, op.option<int32_t>(2, 0));
  const int64_t strides[] = {stride_h, stride_w};
  std::vector<int64_t> pads(4), more(2);
  for (size_t i = 0; i < 2; ++i) {
    const int axis = static_cast<int>(i) + 2;
    if (strides[i] < 1 || shape[i + 1] < 1) {
      return invalid_model(str("stride ", strides[i], " and extent ", shape[i + 1],
                               ": each must be at least 1"));
    }
    const int64_t full = (picture->shape()[axis] - 1) * strides[i] + filter->shape()[axis];
    const int64_t total = full - shape[i + 1];
    pads[i] = std::max<int64_t>(total / 2, 0);
    pads[i + 2] = std::max<int64_t>(total, 0) - pads[i];
    more[i] = std::max<int64_t>(-total, 0);
    if (more[i] >= strides[i]) {
      return invalid_model(str("output_shape asks for ", shape[i + 1], " where at most ",
                               full + strides[i] - 1, " can be"));
    }
  }
  AttrMap attrs;
  attrs["kernel_shape"] = std::vector<int64_t>{filter->shape()[2], filter->shape()[3]};
  attrs["strides"] = std::vector<int64_t>{stride_h, stride_w};
  attrs["pads"] = pads;
  attrs["output_padding"] = more;
  std::vector<Value*> inputs = {picture, filter};
  if (op.has(3)) {
    RK_ASSIGN(Value* const bias, op.weights(3, {0}));
    inputs.push_back(bias);
  }
  RK_ASSIGN(Value * value, op.emit("ConvTranspose", "/conv", std::move(inputs), std::move(attrs)));
  RK_ASSIGN(const auto activation, op.option<int8_t>(3, 0));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst);
}

// The border takes no part in the average.
Status average_pool(OpImport& op) { return pool(op, "AveragePool"); }
Status max_pool(OpImport& op) { return pool(op, "MaxPool"); }

// The root of the mean square.
Status l2_pool(OpImport& op) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(Value* const squares, op.emit("Mul", "/square", {picture, picture}));
  RK_ASSIGN(Value* const mean, pooled(op, squares, "AveragePool"));
  RK_ASSIGN(Value * value, op.emit("Sqrt", "/sqrt", {mean}));
  RK_ASSIGN(const auto activation, op.option<int8_t>(5, 0));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst);
}

Status resize_bilinear(OpImport& op) {
  RK_ASSIGN(const auto align_corners, op.option<uint8_t>(2, 0));
  RK_ASSIGN(const auto half_pixel, op.option<uint8_t>(3, 0));
  return resize(op, {{"mode", std::string("linear")}}, align_corners != 0, half_pixel != 0);
}

// floor((x + 0.5) * scale) with half pixels is ONNX's rounding up of the shifted position.
Status resize_nearest(OpImport& op) {
  RK_ASSIGN(const auto align_corners, op.option<uint8_t>(0, 0));
  RK_ASSIGN(const auto half_pixel, op.option<uint8_t>(1, 0));
  const std::string rule = align_corners != 0 || half_pixel != 0 ? "round_prefer_ceil" : "floor";
  return resize(op, {{"mode", std::string("nearest")}, {"nearest_mode", rule}}, align_corners != 0,
                half_pixel != 0);
}

Status space_to_depth(OpImport& op) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(const int64_t block, op.option<int32_t>(0, 0));
  RK_ASSIGN(Value* const value, op.emit("SpaceToDepth", "/s2d", {picture}, {{"blocksize", block}}));
  return op.bind_moved(0, value, Order::kFirst);
}

Status depth_to_space(OpImport& op) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(const int64_t block, op.option<int32_t>(0, 0));
  RK_ASSIGN(Value* const value, op.emit("DepthToSpace", "/d2s", {picture},
                                        {{"blocksize", block}, {"mode", std::string("DCR")}}));
  return op.bind_moved(0, value, Order::kFirst);
}

// The file's alpha is per element, ONNX's is divided by the number of channels.
Status local_response_normalization(OpImport& op) {
  RK_ASSIGN(Value* const picture, picture_of(op, 0));
  RK_ASSIGN(const int64_t radius, op.option<int32_t>(0, 0));
  RK_ASSIGN(const float bias, op.option<float>(1, 0));
  RK_ASSIGN(const float alpha, op.option<float>(2, 0));
  RK_ASSIGN(const float beta, op.option<float>(3, 0));
  if (radius < 0 || radius > 1 << 20) return invalid_model(str("radius ", radius));
  const int64_t size = 2 * radius + 1;
  RK_ASSIGN(Value* const value,
            op.emit("LRN", "/lrn", {picture},
                    {{"size", size}, {"alpha", alpha * static_cast<float>(size)}, {"beta", beta},
                     {"bias", bias}}));
  return op.bind(0, value, Order::kFirst);
}

namespace {

struct Blocks {
  int64_t h = 1, w = 1;
  std::vector<int64_t> border = {0, 0, 0, 0};  // top, bottom, left, right
};

Result<Blocks> blocks_of(OpImport& op, std::string_view what) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const std::vector<int64_t> block, op.ints(1, "block_shape"));
  RK_ASSIGN(const std::vector<int64_t> border, op.ints(2, what));
  if (block.size() != 2 || border.size() != 4 || block[0] < 1 || block[1] < 1 ||
      std::ranges::any_of(border, [](int64_t n) { return n < 0; })) {
    return unsupported(str("block_shape with ", block.size(), " and ", what, " with ",
                           border.size(), " elements; blocks of two dimensions are taken"));
  }
  return Blocks{block[0], block[1], border};
}

}  // namespace

// Both are Reshape, Transpose, Reshape; around a convolution converters write a dilation instead.
Status space_to_batch(OpImport& op) {
  RK_ASSIGN(const Blocks blocks, blocks_of(op, "paddings"));
  RK_ASSIGN(Value * value, picture_of(op, 0));
  RK_ASSIGN(value, op.emit("Pad", "/pad",
                           {value, op.ints_value("/pads", {0, 0, blocks.border[0], blocks.border[2], 0,
                                                           0, blocks.border[1], blocks.border[3]})}));
  const Shape s = value->shape();
  if (s[2] % blocks.h != 0 || s[3] % blocks.w != 0) {
    return invalid_model(str("blocks of ", blocks.h, " x ", blocks.w, " do not divide ",
                             to_string(s)));
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

Status batch_to_space(OpImport& op) {
  RK_ASSIGN(const Blocks blocks, blocks_of(op, "crops"));
  RK_ASSIGN(Value * value, picture_of(op, 0));
  const Shape s = value->shape();
  const int64_t batch = s[0] / (blocks.h * blocks.w);
  if (batch * blocks.h * blocks.w != s[0]) {
    return invalid_model(str("blocks of ", blocks.h, " x ", blocks.w, " do not divide a batch of ",
                             s[0]));
  }
  RK_ASSIGN(value, reshaped(op.builder(), value, {blocks.h, blocks.w, batch, s[1], s[2], s[3]},
                            "/blocks"));
  RK_ASSIGN(value, transposed(op.builder(), value, {2, 3, 4, 0, 5, 1}, "/moved"));
  const int64_t height = s[2] * blocks.h, width = s[3] * blocks.w;
  RK_ASSIGN(value, reshaped(op.builder(), value, {batch, s[1], height, width}, "/space"));
  RK_ASSIGN(value, op.emit("Slice", "/crop",
                           {value, op.ints_value("/starts", {blocks.border[0], blocks.border[2]}),
                            op.ints_value("/ends", {height - blocks.border[1],
                                                    width - blocks.border[3]}),
                            op.ints_value("/axes", {2, 3})}));
  return op.bind_moved(0, value, Order::kFirst);
}

}  // namespace rk::frontends::tflite
