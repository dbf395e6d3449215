// SPDX-License-Identifier: Apache-2.0
// Layers for pictures: how the file stores windows, filters and normalization.
#include <algorithm>

#include "frontends/tensorflow/importer.h"

namespace rk::frontends::tensorflow {
namespace {

// An attribute with one number per axis of the file: those of the spatial axes.
Result<std::vector<int64_t>> spatial_of(const NodeImport& op, const std::string& name, int spatial,
                                        int64_t fallback) {
  const std::vector<int64_t> all = op.attr_ints(name);
  if (all.empty()) return std::vector<int64_t>(static_cast<size_t>(spatial), fallback);
  if (static_cast<int>(all.size()) != spatial + 2) {
    return invalid_model(str(name, " has ", all.size(), " numbers, expected ", spatial + 2));
  }
  const int begin = op.channels_first() ? 2 : 1;
  const int channel = op.channels_first() ? 1 : spatial + 1;
  if (all[0] != 1 || all[static_cast<size_t>(channel)] != 1) {
    return unsupported(str(name, " over batch or channels is not taken"));
  }
  return std::vector<int64_t>(all.begin() + begin, all.begin() + begin + spatial);
}

Result<layers::Windows> windows_of(const NodeImport& op, int spatial, bool has_dilations) {
  layers::Windows windows(static_cast<size_t>(spatial));
  RK_ASSIGN(const auto strides, spatial_of(op, "strides", spatial, 1));
  std::vector<int64_t> dilations(windows.size(), 1);
  if (has_dilations) {
    RK_ASSIGN(dilations, spatial_of(op, "dilations", spatial, 1));
  }
  for (size_t i = 0; i < windows.size(); ++i) {
    windows[i].stride = strides[i];
    windows[i].dilation = dilations[i];
  }
  return windows;
}

Result<layers::Borders> borders_of(const NodeImport& op, int spatial) {
  const std::string padding = op.attr_string("padding", "");
  if (padding == "SAME") return layers::Borders{layers::Padding::kSame, {}};
  if (padding == "VALID") return layers::Borders{layers::Padding::kValid, {}};
  if (padding != "EXPLICIT") return invalid_model(str("padding '", padding, "'"));
  const std::vector<int64_t> all = op.attr_ints("explicit_paddings");
  if (static_cast<int>(all.size()) != 2 * (spatial + 2)) {
    return invalid_model(
        str("explicit_paddings has ", all.size(), " numbers, expected ", 2 * (spatial + 2)));
  }
  layers::Borders out{layers::Padding::kExplicit, {}};
  const size_t begin = op.channels_first() ? 2 : 1;
  for (size_t i = begin; i < begin + static_cast<size_t>(spatial); ++i) {
    out.sides.push_back({all[2 * i], all[2 * i + 1]});
  }
  return out;
}

void set_kernels(layers::Windows& windows, const Value& filter) {
  for (size_t i = 0; i < windows.size(); ++i) {
    windows[i].kernel = filter.shape()[static_cast<int>(i) + 2];
  }
}

// The windows and borders of a convolution, with the dilation that SpaceToBatchND around it stands
// for.
Status apply_dilation(const NodeImport& op, layers::Windows& windows, layers::Borders& borders) {
  const Dilated* const dilated = op.dilation();
  if (dilated == nullptr) return ok_status();
  windows[0].dilation = dilated->h;
  windows[1].dilation = dilated->w;
  borders = {layers::Padding::kExplicit, dilated->border};
  return ok_status();
}

Status need_filter(const Value& filter, bool ok, std::string_view expected) {
  if (ok) return ok_status();
  return invalid_model(
      str("the filter is ", rk::to_string(filter.shape()), "; ", expected, " is expected"));
}

}  // namespace

// Filters lie as [h, w, in, out].
Status conv_2d(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, 2));
  RK_ASSIGN(Value* const filter, op.filter(1, {3, 2, 0, 1}));
  RK_ASSIGN(layers::Windows windows, windows_of(op, 2, true));
  RK_ASSIGN(layers::Borders borders, borders_of(op, 2));
  set_kernels(windows, *filter);
  RK_TRY(apply_dilation(op, windows, borders));
  RK_ASSIGN(Value* const value,
            layers::convolved(op, picture.value, filter, nullptr, windows, borders, false));
  return op.bind(0, value, picture.order);
}

// Filters lie as [h, w, in, multiplier]; result channels count the multiplier fastest.
Status depthwise_conv_2d(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, 2));
  RK_ASSIGN(Value * filter, op.filter(1, {2, 3, 0, 1}));
  const Shape s = filter->shape();
  RK_TRY(need_filter(*filter, s[0] == picture.value->shape()[1], "one per channel"));
  if (s[1] != 1) {
    // Integers before a DequantizeLinear would need their scales spread too.
    RK_ASSIGN(filter, reshaped(op.builder(), filter, {s[0] * s[1], 1, s[2], s[3]}, "/depthwise"));
  }
  RK_ASSIGN(layers::Windows windows, windows_of(op, 2, true));
  RK_ASSIGN(layers::Borders borders, borders_of(op, 2));
  set_kernels(windows, *filter);
  RK_TRY(apply_dilation(op, windows, borders));
  RK_ASSIGN(Value* const value,
            layers::convolved(op, picture.value, filter, nullptr, windows, borders, true));
  return op.bind(0, value, picture.order);
}

// Filters lie as [d, h, w, in, out].
Status conv_3d(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, 3));
  RK_ASSIGN(Value* const filter, op.filter(1, {4, 3, 0, 1, 2}));
  RK_ASSIGN(layers::Windows windows, windows_of(op, 3, true));
  RK_ASSIGN(const layers::Borders borders, borders_of(op, 3));
  set_kernels(windows, *filter);
  RK_ASSIGN(Value* const value,
            layers::convolved(op, picture.value, filter, nullptr, windows, borders, false));
  return op.bind(0, value, picture.order);
}

// Inputs: the result's shape, the filter [h, w, out, in], the picture.
Status conv_2d_backprop(NodeImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const std::vector<int64_t> shape, op.ints(0, "input_sizes"));
  RK_ASSIGN(Value* const filter, op.filter(1, {3, 2, 0, 1}));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(2, 2));
  if (shape.size() != 4 && shape.size() != 2) {
    return invalid_model(str("input_sizes has ", shape.size(), " elements, expected 4"));
  }
  const size_t begin = shape.size() == 2 ? 0 : op.channels_first() ? 2 : 1;
  RK_ASSIGN(layers::Windows windows, windows_of(op, 2, true));
  RK_ASSIGN(const layers::Borders borders, borders_of(op, 2));
  set_kernels(windows, *filter);
  RK_ASSIGN(Value* const value,
            layers::transpose_convolved(op, picture.value, filter, nullptr, windows, borders,
                                        {shape[begin], shape[begin + 1]}));
  return op.bind(0, value, picture.order);
}

// A convolution with what the graph's optimizer put into it: a bias, then an activation.
Status fused_conv_2d(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  std::vector<std::string> fused;
  if (const AttrValue* const list = op.attr("fused_ops")) {
    fused.assign(list->list().s().begin(), list->list().s().end());
  }
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, 2));
  RK_ASSIGN(Value* const filter, op.filter(1, {3, 2, 0, 1}));
  RK_ASSIGN(layers::Windows windows, windows_of(op, 2, true));
  RK_ASSIGN(const layers::Borders borders, borders_of(op, 2));
  set_kernels(windows, *filter);
  Value* bias = nullptr;
  if (!fused.empty() && fused[0] == "BiasAdd") {
    RK_ASSIGN(bias, op.last(2));
    fused.erase(fused.begin());
  }
  RK_ASSIGN(Value * value,
            layers::convolved(op, picture.value, filter, bias, windows, borders, false));
  for (const std::string& name : fused) {
    if (name == "Relu" || name == "Elu" || name == "Sigmoid" || name == "Tanh") {
      RK_ASSIGN(value, op.emit(name, "/activation", {value}));
    } else if (name == "Relu6") {
      RK_ASSIGN(value, op.activated(value, Fused::kRelu6));
    } else if (name == "LeakyRelu") {
      RK_ASSIGN(value, op.emit("LeakyRelu", "/activation", {value},
                               {{"alpha", op.attr_float("leakyrelu_alpha", 0.2f)}}));
    } else {
      return unsupported(str("fused operator '", name, "' is not taken"));
    }
  }
  return op.bind(0, value, picture.order);
}

// Inputs: picture, size, paddings, filter. Bilinear resizing, a mirrored border, a convolution.
Status fused_resize_conv(NodeImport& op) {
  const bool resizes = op.op() == "FusedResizeAndPadConv2D";
  RK_TRY(op.need_inputs(resizes ? 4 : 3));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, 2));
  Value* value = picture.value;
  if (resizes) {
    RK_ASSIGN(const std::vector<int64_t> size, op.ints(1, "size"));
    if (size.size() != 2)
      return invalid_model(str("size has ", size.size(), " elements, expected 2"));
    RK_ASSIGN(value, layers::resized_linear(op, value, size[0], size[1],
                                            {op.attr_bool("resize_align_corners"), false}));
  }
  RK_ASSIGN(const std::vector<int64_t> pairs, op.ints(resizes ? 2 : 1, "paddings"));
  if (pairs.size() != 8)
    return invalid_model(str("paddings has ", pairs.size(), " elements, expected 8"));
  if (std::ranges::any_of(pairs, [](int64_t n) { return n != 0; })) {
    if (op.attr_string("mode", "") != "REFLECT") {
      return unsupported("mode SYMMETRIC is not taken; REFLECT is");
    }
    const std::vector<int64_t> pads = {pairs[0], pairs[6], pairs[2], pairs[4],
                                       pairs[1], pairs[7], pairs[3], pairs[5]};
    RK_ASSIGN(value, op.emit("Pad", "/pad", {value, op.ints_value("/pads", pads)},
                             {{"mode", std::string("reflect")}}));
  }
  RK_ASSIGN(Value* const filter, op.filter(resizes ? 3 : 2, {3, 2, 0, 1}));
  RK_ASSIGN(layers::Windows windows, windows_of(op, 2, false));
  RK_ASSIGN(const layers::Borders borders, borders_of(op, 2));
  set_kernels(windows, *filter);
  RK_ASSIGN(value, layers::convolved(op, value, filter, nullptr, windows, borders, false));
  return op.bind(0, value, picture.order);
}

namespace {

Result<layers::Windows> pool_windows(NodeImport& op, int spatial) {
  RK_ASSIGN(layers::Windows windows, windows_of(op, spatial, false));
  RK_ASSIGN(const auto kernels, spatial_of(op, "ksize", spatial, 1));
  for (size_t i = 0; i < windows.size(); ++i) windows[i].kernel = kernels[i];
  return windows;
}

}  // namespace

Status pool(NodeImport& op, std::string_view name, int spatial) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, spatial));
  RK_ASSIGN(layers::Windows windows, pool_windows(op, spatial));
  RK_ASSIGN(const layers::Borders borders, borders_of(op, spatial));
  RK_ASSIGN(Value* const value, layers::pooled(op, picture.value, name, windows, borders));
  return op.bind(0, value, picture.order);
}

// Inputs: what was pooled, its result, values to put where the maxima were.
Status max_pool_grad(NodeImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const NodeImport::Picture pooled, op.picture(0, 2));
  RK_ASSIGN(const NodeImport::Picture values, op.picture(2, 2));
  RK_ASSIGN(layers::Windows windows, pool_windows(op, 2));
  RK_ASSIGN(const layers::Borders borders, borders_of(op, 2));
  if (windows[0].kernel > windows[0].stride || windows[1].kernel > windows[1].stride) {
    return unsupported("with windows that overlap is not taken");
  }
  RK_ASSIGN(AttrMap attrs, layers::window_attrs(*pooled.value, windows, borders));
  attrs.erase("dilations");
  // The graph's operators count places in what the windows cover; the rest of the picture gets
  // zeros.
  const auto& pads = std::get<std::vector<int64_t>>(attrs["pads"]);
  const Shape shape = pooled.value->shape();
  std::vector<int64_t> covered, rest = {0, 0, 0, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const int axis = static_cast<int>(i) + 2;
    covered.push_back((values.value->shape()[axis] - 1) * windows[i].stride + windows[i].kernel -
                      pads[i] - pads[i + 2]);
    rest[i + 6] = shape[axis] - covered[i];
    if (covered[i] < 1 || rest[i + 6] < 0) {
      return invalid_model(str("values of ", rk::to_string(values.value->shape()),
                               " do not belong to a picture of ", rk::to_string(shape)));
    }
  }
  RK_ASSIGN(Value* const part,
            op.emit("Slice", "/covered",
                    {pooled.value, op.ints_value("/starts", {0, 0}),
                     op.ints_value("/ends", covered), op.ints_value("/axes", {2, 3})}));
  RK_ASSIGN(const auto found, op.emit_many("MaxPool", {part}, 2, attrs));
  RK_ASSIGN(Value * value, op.emit("MaxUnpool", "/unpool", {values.value, found[1]}, attrs));
  RK_ASSIGN(value, op.emit("Pad", "/result", {value, op.ints_value("/rest", rest)}));
  return op.bind(0, value, pooled.order);
}

Status space_to_batch(NodeImport& op) {
  if (op.replaced_by_dilation()) {
    RK_ASSIGN(const Held* const held, op.held(0));
    return op.bind_held(0, *held);
  }
  RK_ASSIGN(const layers::Blocks blocks, layers::blocks_of(op, "paddings"));
  return layers::space_to_batch(op, blocks);
}

Status batch_to_space(NodeImport& op) {
  if (op.is_passed()) return layers::passed_on(op);
  RK_ASSIGN(const layers::Blocks blocks, layers::blocks_of(op, "crops"));
  return layers::batch_to_space(op, blocks);
}

Status moved_blocks(NodeImport& op, bool to_depth) {
  if (op.attr_string("data_format", "NHWC") != "NHWC") {
    return unsupported("data_format other than NHWC is not taken");
  }
  const int64_t block = op.attr_int("block_size", 0);
  return to_depth ? layers::space_to_depth(op, block) : layers::depth_to_space(op, block);
}

// Channels first in the file: the bias goes along axis 1.
Status bias_add(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  if (!op.channels_first()) return layers::binary(op, "Add");
  RK_ASSIGN(Value* const value, op.last(0));
  RK_ASSIGN(Value * bias, op.last(1));
  if (value->shape().rank() < 2) return invalid_model(str("of ", rk::to_string(value->shape())));
  std::vector<int64_t> dims(static_cast<size_t>(value->shape().rank()) - 1, 1);
  dims[0] = bias->shape().elements();
  RK_ASSIGN(bias, reshaped(op.builder(), bias, dims, "/channels"));
  RK_ASSIGN(Value* const sum, op.emit("Add", "/result", {value, bias}));
  return op.bind(0, sum, Order::kFile);
}

namespace {

struct Affine {
  Value* scale = nullptr;
  Value* bias = nullptr;
};

// With the statistics of this very picture, as in training.
Result<Value*> normalized_by_itself(NodeImport& op, Value* value, const Affine& affine,
                                    float epsilon) {
  std::vector<int64_t> axes = {0}, per_channel(static_cast<size_t>(value->shape().rank()), 1);
  for (int axis = 2; axis < value->shape().rank(); ++axis) axes.push_back(axis);
  per_channel[1] = value->shape()[1];
  Value* const over = op.ints_value("/axes", axes);
  RK_ASSIGN(Value* const mean, op.emit("ReduceMean", "/mean", {value, over}));
  RK_ASSIGN(value, op.emit("Sub", "/centered", {value, mean}));
  RK_ASSIGN(Value * variance, op.emit("Mul", "/squares", {value, value}));
  RK_ASSIGN(variance, op.emit("ReduceMean", "/variance", {variance, over}));
  RK_ASSIGN(variance, op.emit("Add", "/shifted", {variance, op.scalar("/epsilon", epsilon)}));
  RK_ASSIGN(variance, op.emit("Sqrt", "/deviation", {variance}));
  RK_ASSIGN(value, op.emit("Div", "/normalized", {value, variance}));
  RK_ASSIGN(Value* const scale, reshaped(op.builder(), affine.scale, per_channel, "/scale"));
  RK_ASSIGN(Value* const bias, reshaped(op.builder(), affine.bias, per_channel, "/bias"));
  RK_ASSIGN(value, op.emit("Mul", "/scaled", {value, scale}));
  return op.emit("Add", "/result", {value, bias});
}

}  // namespace

// Inputs: picture, scale, offset, mean, variance. Other results are those of training.
Status fused_batch_norm(NodeImport& op) {
  RK_TRY(op.need_inputs(5));
  RK_ASSIGN(const Held* const held, op.held(0));
  if (held->shape().rank() < 3) {
    return invalid_model(str("of ", rk::to_string(held->shape()), "; a picture is expected"));
  }
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, held->shape().rank() - 2));
  std::vector<Value*> inputs = {picture.value};
  for (size_t i = 1; i < 5; ++i) {
    RK_ASSIGN(Value* const value, op.last(i));
    inputs.push_back(value);
  }
  const float epsilon = op.attr_float("epsilon", 1e-4f);
  if (inputs[3]->shape().elements() == 0) {
    RK_ASSIGN(Value* const value,
              normalized_by_itself(op, picture.value, {inputs[1], inputs[2]}, epsilon));
    return op.bind(0, value, picture.order);
  }
  if (op.attr_bool("is_training")) {
    op.note(str("FusedBatchNorm '", op.output_name(0),
                "' is in training mode; its stored mean and variance are used"));
  }
  RK_ASSIGN(Value* const value,
            op.emit("BatchNormalization", "/result", inputs, {{"epsilon", epsilon}}));
  return op.bind(0, value, picture.order);
}

// Inputs: picture, mean, variance, offset, scale.
Status global_batch_norm(NodeImport& op) {
  RK_TRY(op.need_inputs(5));
  RK_ASSIGN(const NodeImport::Picture picture, op.picture(0, 2));
  std::vector<Value*> inputs = {picture.value};
  for (const size_t i : {4, 3, 1, 2}) {
    RK_ASSIGN(Value* const value, op.last(i));
    inputs.push_back(value);
  }
  if (const AttrValue* const scales = op.attr("scale_after_normalization");
      scales != nullptr && !scales->b()) {
    const std::vector<float> ones(static_cast<size_t>(inputs[1]->shape().elements()), 1.0f);
    inputs[1] = op.constant("/ones", Tensor::f32(inputs[1]->shape(), ones));
  }
  RK_ASSIGN(Value* const value, op.emit("BatchNormalization", "/result", inputs,
                                        {{"epsilon", op.attr_float("variance_epsilon", 1e-3f)}}));
  return op.bind(0, value, picture.order);
}

}  // namespace rk::frontends::tensorflow
