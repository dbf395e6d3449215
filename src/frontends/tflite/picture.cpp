// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling: how the file stores windows, filters and biases.
#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {
namespace {

Result<layers::Borders> borders_of(OpImport& op) {
  RK_ASSIGN(const auto padding, op.option<int8_t>(0, 0));
  if (padding == 0) return layers::Borders{layers::Padding::kSame, {}};
  if (padding == 1) return layers::Borders{layers::Padding::kValid, {}};
  return invalid_model(
      str("padding number ", static_cast<int>(padding), "; SAME is 0, VALID is 1"));
}

// Strides of every layer with a window: the width's comes first.
Result<layers::Windows> strided(OpImport& op) {
  layers::Windows windows(2);
  RK_ASSIGN(windows[1].stride, op.option<int32_t>(1, 0));
  RK_ASSIGN(windows[0].stride, op.option<int32_t>(2, 0));
  return windows;
}

Result<Value*> bias_of(OpImport& op, size_t i) {
  if (!op.has(i)) return nullptr;
  return op.weights(i, {0});
}

Status convolution(OpImport& op, const std::vector<int64_t>& perm, bool depthwise,
                   int activation_slot, int dilation_slot) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const picture, layers::picture_of(op, 0));
  RK_ASSIGN(Value* const filter, op.weights(1, perm));
  RK_ASSIGN(const layers::Borders borders, borders_of(op));
  RK_ASSIGN(layers::Windows windows, strided(op));
  windows[0].kernel = filter->shape()[2];
  windows[1].kernel = filter->shape()[3];
  RK_ASSIGN(windows[1].dilation, op.option<int32_t>(dilation_slot, 1));
  RK_ASSIGN(windows[0].dilation, op.option<int32_t>(dilation_slot + 1, 1));
  RK_ASSIGN(Value* const bias, bias_of(op, 2));
  RK_ASSIGN(Value * value,
            layers::convolved(op, picture, filter, bias, windows, borders, depthwise));
  RK_ASSIGN(const Fused activation, op.fused(activation_slot));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst, Rounding::kTwice);
}

Result<Value*> pooled(OpImport& op, Value* picture, std::string_view name) {
  RK_ASSIGN(layers::Windows windows, strided(op));
  RK_ASSIGN(windows[1].kernel, op.option<int32_t>(3, 0));
  RK_ASSIGN(windows[0].kernel, op.option<int32_t>(4, 0));
  RK_ASSIGN(const layers::Borders borders, borders_of(op));
  return layers::pooled(op, picture, name, windows, borders);
}

Status pool(OpImport& op, std::string_view name) {
  RK_ASSIGN(Value* const picture, layers::picture_of(op, 0));
  RK_ASSIGN(Value * value, pooled(op, picture, name));
  RK_ASSIGN(const Fused activation, op.fused(5));
  if (activation == Fused::kNone && name == "MaxPool") {
    return op.bind_moved(0, value, Order::kFirst);
  }
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst);
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
  RK_ASSIGN(Value* const picture, layers::picture_of(op, 2));
  if (shape.size() != 4) return invalid_model("output_shape must have 4 elements");
  RK_ASSIGN(layers::Windows windows, strided(op));
  windows[0].kernel = filter->shape()[2];
  windows[1].kernel = filter->shape()[3];
  RK_ASSIGN(Value* const bias, bias_of(op, 3));
  RK_ASSIGN(Value * value, layers::transpose_convolved(op, picture, filter, bias, windows, {},
                                                       {shape[1], shape[2]}));
  RK_ASSIGN(const Fused activation, op.fused(3));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst);
}

Status average_pool(OpImport& op) { return pool(op, "AveragePool"); }
Status max_pool(OpImport& op) { return pool(op, "MaxPool"); }

// The root of the mean square.
Status l2_pool(OpImport& op) {
  RK_ASSIGN(Value* const picture, layers::picture_of(op, 0));
  RK_ASSIGN(Value* const squares, op.emit("Mul", "/square", {picture, picture}));
  RK_ASSIGN(Value* const mean, pooled(op, squares, "AveragePool"));
  RK_ASSIGN(Value * value, op.emit("Sqrt", "/sqrt", {mean}));
  RK_ASSIGN(const Fused activation, op.fused(5));
  RK_ASSIGN(value, op.activated(value, activation));
  return op.bind(0, value, Order::kFirst);
}

}  // namespace rk::frontends::tflite
