// SPDX-License-Identifier: Apache-2.0
// Quantized operators, as torch.ao.quantization (FX or eager) writes them: scales, zero points and integers are kept.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/operators.h"

namespace rk::frontends::torchscript {
namespace {

// Numbers of quint8 in int8.
constexpr int64_t kShift = 128;

Result<QuantScale> scale_at(Call& call, size_t i) {
  QuantScale out;
  RK_ASSIGN(out.scale, call.real(i, "the scale"));
  RK_ASSIGN(const int64_t point, call.integer(i + 1, "the zero point"));
  out.zero_point = std::clamp<int64_t>(point, -1000, 1000) - kShift;
  return out;
}

Status need_quantized(const Item& item) {
  if (item.is_tensor() && item.quant) return ok_status();
  return invalid_model("an argument is not quantized");
}

Result<std::shared_ptr<const PackedLayer>> layer_at(Call& call, size_t i) {
  if (call.arg(i).kind != Item::Kind::kLayer) return invalid_model("has no packed weights");
  return call.arg(i).layer;
}

// As torch's kernels have it: int32 on the scale of input times weight.
Result<Value*> bias_of(Call& call, const PackedLayer& layer, double input_scale) {
  const StoredTensor& stored = *layer.bias;
  RK_ASSIGN(const Shape shape, Shape::make(stored.dims));
  RK_ASSIGN(const Tensor real, Tensor::from_bytes({stored.dtype, shape}, stored.data));
  const std::vector<double>& weight_scales = layer.weight.affine.scale;
  const int64_t channels = shape.elements();
  if (shape.rank() != 1 || (weight_scales.size() != 1 && std::ssize(weight_scales) != channels)) {
    return invalid_model(
        str("has ", weight_scales.size(), " scales for a bias of ", to_string(shape)));
  }
  Tensor integers = Tensor::make({DType::kI32, shape});
  std::vector<float> scales;
  for (int64_t i = 0; i < channels; ++i) {
    const double weight_scale =
        weight_scales[weight_scales.size() == 1 ? 0 : static_cast<size_t>(i)];
    const double scale = input_scale * weight_scale;
    const double steps = std::nearbyint(real.at_f64(i) / scale);
    if (!(std::abs(steps) < 2147483648.0)) {
      return invalid_model(
          str("its bias ", real.at_f64(i), " does not fit 32 bits on a scale of ", scale));
    }
    integers.mutable_data<int32_t>()[i] = static_cast<int32_t>(steps);
    scales.push_back(static_cast<float>(scale));
  }
  GraphBuilder& builder = call.builder();
  return call.emit("DequantizeLinear", "/bias",
                   {builder.constant(call.name() + "/bias_integers", std::move(integers)),
                    builder.constant(call.name() + "/bias_scale", Tensor::f32(shape, scales))},
                   {{"axis", int64_t{0}}});
}

// [N, C, W] as [N, C, 1, W]: quantized 1-D convolutions have weights of rank 4.
Result<Value*> as_picture(Call& call, Value* value) {
  const Shape& shape = value->shape();
  if (shape.rank() != 3) return value;
  return call.reshaped(value, {shape[0], shape[1], 1, shape[2]}, "/picture");
}

Result<Value*> convolved(Call& call, Value* value, const PackedLayer& layer, double input_scale) {
  const auto twice = [](std::vector<int64_t> pads) {
    const size_t n = pads.size();
    for (size_t i = 0; i < n; ++i) pads.push_back(pads[i]);
    return pads;
  };
  RK_ASSIGN(Value* const weight, call.constant(layer.weight, "/weight"));
  const Shape& shape = weight->shape();
  const auto spatial = static_cast<size_t>(std::max(shape.rank() - 2, 0));
  for (const auto* list : {&layer.stride, &layer.padding, &layer.dilation}) {
    if (list->size() != spatial || spatial == 0 ||
        std::ranges::any_of(*list, [](int64_t n) { return n < 0 || n > 1 << 20; })) {
      return invalid_model(
          str("strides, padding or dilation do not fit weights ", to_string(shape)));
    }
  }
  AttrMap attrs = {
      {"kernel_shape", std::vector<int64_t>(shape.dims().begin() + 2, shape.dims().end())},
      {"strides", layer.stride},
      {"pads", twice(layer.padding)},
      {"dilations", layer.dilation},
      {"group", layer.groups}};
  if (layer.transposed) attrs["output_padding"] = layer.output_padding;
  std::vector<Value*> inputs = {value, weight};
  if (layer.bias != nullptr) {
    RK_ASSIGN(Value* const bias, bias_of(call, layer, input_scale));
    inputs.push_back(bias);
  }
  return call.emit(layer.transposed ? "ConvTranspose" : "Conv", "/conv", std::move(inputs),
                   std::move(attrs));
}

Result<Value*> with_relu(Call& call, Value* value, bool relu) {
  return relu ? call.emit("Relu", "/relu", {value}) : Result<Value*>(value);
}

// (x, scale, zero point, dtype)
Status quantize_per_tensor(Call& call) {
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const int64_t dtype, call.integer(3, "the dtype"));
  if (dtype != 12 && dtype != 13) return unsupported("to other than qint8 and quint8 is not taken");
  RK_ASSIGN(QuantScale scale, scale_at(call, 1));
  if (dtype == 12) scale.zero_point += kShift;
  return call.give_rounded(value, scale);
}

Status dequantize(Call& call) {
  if (call.arg(0).is_list()) {
    std::vector<Item> items = *call.arg(0).items;
    for (Item& item : items) item.quant.reset();
    return call.give(Item::of_items(call.arg(0).kind, std::move(items)));
  }
  RK_ASSIGN(Value* const value, call.tensor(0));
  return call.give(value);
}

// (x, layer, scale, zero point)
Status quantized_conv(Call& call, bool relu) {
  RK_TRY(need_quantized(call.arg(0)));
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const auto layer, layer_at(call, 1));
  RK_ASSIGN(const QuantScale scale, scale_at(call, 2));
  const bool one_axis = value->shape().rank() == 3;
  RK_ASSIGN(Value* const picture, as_picture(call, value));
  RK_ASSIGN(Value * out, convolved(call, picture, *layer, call.arg(0).quant->scale));
  RK_ASSIGN(out, with_relu(call, out, relu));
  call.count_weights(layer->weight.affine);
  if (one_axis) {
    RK_ASSIGN(out, call.rounded(out, scale));
    const Shape& shape = out->shape();
    if (shape.rank() != 4 || shape[2] != 1) return invalid_model("is not of one axis");
    RK_ASSIGN(out, call.reshaped(out, {shape[0], shape[1], shape[3]}, "/row"));
    Item item = Item::of_tensor(out);
    item.quant = scale;
    return call.give(std::move(item));
  }
  return call.give_rounded(out, scale);
}

// (x, layer, scale, zero point)
Status quantized_linear(Call& call, bool relu) {
  RK_TRY(need_quantized(call.arg(0)));
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const auto layer, layer_at(call, 1));
  RK_ASSIGN(const QuantScale scale, scale_at(call, 2));
  RK_ASSIGN(Value* const weight, call.constant(layer->weight, "/weight"));
  const Shape& shape = value->shape();
  const int rank = shape.rank();
  if (rank < 1 || weight->shape().rank() != 2 || shape[rank - 1] != weight->shape()[1]) {
    return invalid_model(str("of ", to_string(shape), " and ", to_string(weight->shape())));
  }
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.back() = weight->shape()[0];
  const int64_t depth = std::max<int64_t>(shape[rank - 1], 1);
  RK_ASSIGN(Value* const rows, call.reshaped(value, {shape.elements() / depth, depth}, "/rows"));
  std::vector<Value*> inputs = {rows, weight};
  if (layer->bias != nullptr) {
    RK_ASSIGN(Value* const bias, bias_of(call, *layer, call.arg(0).quant->scale));
    inputs.push_back(bias);
  }
  RK_ASSIGN(Value * out, call.emit("Gemm", "/gemm", std::move(inputs), {{"transB", int64_t{1}}}));
  RK_ASSIGN(out, with_relu(call, out, relu));
  RK_ASSIGN(out, call.rounded(out, scale));
  RK_ASSIGN(out, call.reshaped(out, dims));
  call.count_weights(layer->weight.affine);
  Item item = Item::of_tensor(out);
  item.quant = scale;
  return call.give(std::move(item));
}

// A constant that quantize_per_tensor or a file gave, back in the stored form.
Result<StoredTensor> stored_at(Call& call, size_t i) {
  const Item& item = call.arg(i);
  if (item.is_tensor() && item.stored != nullptr) return *item.stored;
  return unsupported("of weights that are computed is not taken");
}

// (weight, bias, stride, padding, dilation, groups)
Status conv_prepack(Call& call, int spatial) {
  const auto n = static_cast<size_t>(spatial);
  auto layer = std::make_shared<PackedLayer>();
  RK_ASSIGN(layer->weight, stored_at(call, 0));
  if (call.has(1)) {
    RK_ASSIGN(StoredTensor bias, stored_at(call, 1));
    layer->bias = std::make_shared<const StoredTensor>(std::move(bias));
  }
  RK_ASSIGN(layer->stride, call.ints(2, "the stride", n));
  RK_ASSIGN(layer->padding, call.ints(3, "the padding", n));
  RK_ASSIGN(layer->dilation, call.ints(4, "the dilation", n));
  RK_ASSIGN(layer->groups, call.integer(5, "the groups"));
  Item item;
  item.kind = Item::Kind::kLayer;
  item.layer = std::move(layer);
  return call.give(std::move(item));
}

Status linear_prepack(Call& call) {
  auto layer = std::make_shared<PackedLayer>();
  RK_ASSIGN(layer->weight, stored_at(call, 0));
  if (call.has(1)) {
    RK_ASSIGN(StoredTensor bias, stored_at(call, 1));
    layer->bias = std::make_shared<const StoredTensor>(std::move(bias));
  }
  Item item;
  item.kind = Item::Kind::kLayer;
  item.layer = std::move(layer);
  return call.give(std::move(item));
}

// (a, b, scale, zero point)
Status quantized_binary(Call& call, std::string_view op, bool relu) {
  RK_TRY(need_quantized(call.arg(0)));
  RK_TRY(need_quantized(call.arg(1)));
  RK_ASSIGN(Value* const a, call.tensor(0));
  RK_ASSIGN(Value* const b, call.tensor(1));
  RK_ASSIGN(const QuantScale scale, scale_at(call, 2));
  RK_ASSIGN(Value * out, call.emit(op, "/y", {a, b}));
  RK_ASSIGN(out, with_relu(call, out, relu));
  return call.give_rounded(out, scale);
}

// (x, number): the integers stay, scale or zero point change.
Status quantized_scalar(Call& call, std::string_view op, bool relu) {
  RK_TRY(need_quantized(call.arg(0)));
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const double number, call.real(1, "the number"));
  QuantScale scale = *call.arg(0).quant;
  if (op == "Add") {
    const double steps = std::nearbyint(number / scale.scale);
    if (!(std::abs(steps) < 1000) || scale.zero_point - steps < -128 ||
        scale.zero_point - steps > 127) {
      return unsupported("of a number beyond the tensor's range is not taken");
    }
    scale.zero_point -= static_cast<int64_t>(steps);
  } else if (number > 0) {
    scale.scale *= number;
  } else if (number < 0) {
    scale = {scale.scale * -number, -1 - scale.zero_point};
  } else {
    scale = {1, -kShift};
  }
  RK_ASSIGN(Value * out, call.emit(op, "/y", {value, call.scalar("/number", number)}));
  RK_ASSIGN(out, with_relu(call, out, relu));
  return call.give_rounded(out, scale);
}

// (list, axis, scale, zero point)
Status quantized_cat(Call& call, bool relu) {
  RK_ASSIGN(const auto values, call.tensors(0));
  RK_ASSIGN(const int64_t axis, call.axis(1, values[0]->shape().rank()));
  RK_ASSIGN(Value * out, call.emit("Concat", "/y", values, {{"axis", axis}}));
  RK_ASSIGN(out, with_relu(call, out, relu));
  const std::vector<Item>& parts = *call.arg(0).items;
  if (!call.has(2) && parts[0].quant) return call.give_rounded(out, *parts[0].quant);
  RK_ASSIGN(const QuantScale scale, scale_at(call, 2));
  return call.give_rounded(out, scale);
}

Status quantized_unary(Call& call, std::string_view op, size_t scale_argument) {
  RK_TRY(need_quantized(call.arg(0)));
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const QuantScale scale, scale_at(call, scale_argument));
  AttrMap attrs;
  if (op == "Elu") attrs["alpha"] = static_cast<float>(call.real_or(3, 1));
  std::vector<Value*> inputs = {value};
  if (op == "PRelu") {
    RK_ASSIGN(Value * slope, call.tensor(1));
    std::vector<int64_t> dims(1, slope->shape().elements());
    if (dims[0] != 1) dims.resize(static_cast<size_t>(std::max(value->shape().rank() - 1, 1)), 1);
    RK_ASSIGN(slope, call.reshaped(slope, dims, "/slope"));
    inputs.push_back(slope);
  }
  RK_ASSIGN(Value* const out, call.emit(op, "/y", std::move(inputs), std::move(attrs)));
  return call.give_rounded(out, scale);
}

// (x, slope, inplace, scale, zero point)
Status quantized_leaky_relu(Call& call) {
  RK_TRY(need_quantized(call.arg(0)));
  RK_ASSIGN(Value* const value, call.tensor(0));
  RK_ASSIGN(const QuantScale scale, scale_at(call, 3));
  RK_ASSIGN(Value* const out, call.emit("LeakyRelu", "/y", {value},
                                        {{"alpha", static_cast<float>(call.real_or(1, 0.01))}}));
  return call.give_rounded(out, scale);
}

// (x, weight, bias, mean, variance, eps, scale, zero point)
Status quantized_batch_norm(Call& call, bool relu) {
  RK_TRY(need_quantized(call.arg(0)));
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 5; ++i) {
    RK_ASSIGN(Value* const value, call.tensor(i));
    inputs.push_back(value);
  }
  RK_ASSIGN(const QuantScale scale, scale_at(call, 6));
  RK_ASSIGN(Value * out, call.emit("BatchNormalization", "/y", std::move(inputs),
                                   {{"epsilon", static_cast<float>(call.real_or(5, 1e-5))}}));
  RK_ASSIGN(out, with_relu(call, out, relu));
  return call.give_rounded(out, scale);
}

Status bounded(Call& call, std::string_view op, double low, double high) {
  RK_ASSIGN(Value * value, call.tensor(0));
  if (!is_float(value->dtype())) {
    RK_ASSIGN(value, call.cast(value, DType::kF32));
  }
  AttrMap attrs;
  if (op == "HardSigmoid") attrs = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
  RK_ASSIGN(Value* const out, call.emit(op, "/y", {value}, std::move(attrs)));
  if (!call.arg(0).quant) return call.give(out);
  return call.give_rounded(out, {(high - low) / 256, low == 0 ? -kShift : 0});
}

// (x, scale, zero point): torch's kernel takes 0..1 whatever stands there; a file may record what an observer saw.
Status quantized_bounded(Call& call, std::string_view op) {
  RK_ASSIGN(const QuantScale recorded, scale_at(call, 1));
  if (recorded.scale != 1.0 / 256 || recorded.zero_point != -kShift) {
    call.note(str(call.node().kind, " '", call.name(), "' records a scale of ", recorded.scale,
                  "; 1/256 with zero point 0 is taken, as torch's own kernel does"));
  }
  return bounded(call, op, 0, 1);
}

// (x, scale, zero point, least, most), or per channel (x, scales, zero points, axis, least, most)
Status fake_quantize(Call& call) {
  RK_ASSIGN(Value * value, call.tensor(0));
  const bool per_channel = call.count() > 5;
  RK_ASSIGN(const int64_t least, call.integer(call.count() - 2, "the least step"));
  RK_ASSIGN(const int64_t most, call.integer(call.count() - 1, "the last step"));
  if (least < -128 || most > 255 || (least < 0 && most > 127) || least >= most) {
    return unsupported(str("to ", least, "..", most, " is not taken; 8 bits are"));
  }
  const int64_t shift = least >= 0 ? kShift : 0;
  if (!per_channel) {
    QuantScale scale;
    RK_ASSIGN(scale.scale, call.real(1, "the scale"));
    RK_ASSIGN(scale.zero_point, call.integer(2, "the zero point"));
    if (least != shift - 128 || most != shift + 127) {
      const auto bound = [&](int64_t step) {
        return scale.scale * static_cast<double>(step - scale.zero_point);
      };
      RK_ASSIGN(value, call.emit("Clip", "/clip",
                                 {value, call.scalar("/min", bound(least)),
                                  call.scalar("/max", bound(most))}));
    }
    scale.zero_point = std::clamp<int64_t>(scale.zero_point, -1000, 1000) - shift;
    RK_ASSIGN(Value* const out, call.rounded(value, scale));
    return call.give(out);
  }
  RK_ASSIGN(const Value* const scales, call.tensor(1));
  RK_ASSIGN(const Value* const points, call.tensor(2));
  RK_ASSIGN(const int64_t axis, call.axis(3, value->shape().rank()));
  if (!scales->is_constant() || !points->is_constant() ||
      scales->shape().elements() != points->shape().elements() || scales->shape().rank() != 1) {
    return unsupported("with scales that are computed is not taken");
  }
  std::vector<int64_t> shifted = points->constant().to_i64();
  for (int64_t& point : shifted) {
    if (point < least || point > most) return invalid_model(str("a zero point is ", point));
    point -= shift;
  }
  Value* const scale =
      call.builder().constant(call.name() + "/scale", scales->constant().cast(DType::kF32));
  Value* const point = call.builder().constant(
      call.name() + "/zero_point", Tensor::i64(points->shape(), shifted).cast(DType::kI8));
  RK_ASSIGN(Value* const integers,
            call.emit("QuantizeLinear", "/quantized", {value, scale, point}, {{"axis", axis}}));
  RK_ASSIGN(Value* const out,
            call.emit("DequantizeLinear", "/real", {integers, scale, point}, {{"axis", axis}}));
  return call.give(out);
}

}  // namespace

void Importer::note_ranges() {
  if (has_weights_ && !has_asymmetric_weights_) {
    import_.note(
        "its weights are quantized symmetrically (every zero point is 0): they are taken as they "
        "are, but a layer whose weights lie unevenly around 0 uses fewer than 256 steps");
  }
  const bool has_signed =
      std::ranges::any_of(zero_points_, [](int64_t p) { return p > 0 && p < 128; });
  if (has_weights_ && has_signed && *zero_points_.rbegin() < 128) {
    import_.note(
        "no zero point of its activations is above 127, as reduce_range=True leaves them: the "
        "scales "
        "are taken as they are, but only 7 of 8 bits are used; prepare the model for qnnpack "
        "(reduce_range=False) for finer steps");
  }
}

std::span<const OperatorRow> quantized_operators() {
  // clang-format off
  static constexpr OperatorRow kRows[] = {
      {"aten::sigmoid", [](Call& c) { return bounded(c, "Sigmoid", 0, 1); }},
      {"aten::tanh", [](Call& c) { return bounded(c, "Tanh", -1, 1); }},
      {"aten::hardsigmoid", [](Call& c) { return bounded(c, "HardSigmoid", 0, 1); }},
      {"aten::quantize_per_tensor", quantize_per_tensor},
      {"aten::dequantize", dequantize},
      {"aten::fake_quantize_per_tensor_affine", fake_quantize},
      {"aten::fake_quantize_per_channel_affine", fake_quantize},
      {"quantized::conv1d", [](Call& c) { return quantized_conv(c, false); }},
      {"quantized::conv1d_relu", [](Call& c) { return quantized_conv(c, true); }},
      {"quantized::conv2d", [](Call& c) { return quantized_conv(c, false); }},
      {"quantized::conv2d_relu", [](Call& c) { return quantized_conv(c, true); }},
      {"quantized::conv3d", [](Call& c) { return quantized_conv(c, false); }},
      {"quantized::conv3d_relu", [](Call& c) { return quantized_conv(c, true); }},
      {"quantized::conv_transpose2d", [](Call& c) { return quantized_conv(c, false); }},
      {"quantized::linear", [](Call& c) { return quantized_linear(c, false); }},
      {"quantized::linear_relu", [](Call& c) { return quantized_linear(c, true); }},
      {"quantized::conv2d_prepack", [](Call& c) { return conv_prepack(c, 2); }},
      {"quantized::linear_prepack", linear_prepack},
      {"quantized::add", [](Call& c) { return quantized_binary(c, "Add", false); }},
      {"quantized::add_relu", [](Call& c) { return quantized_binary(c, "Add", true); }},
      {"quantized::mul", [](Call& c) { return quantized_binary(c, "Mul", false); }},
      {"quantized::mul_relu", [](Call& c) { return quantized_binary(c, "Mul", true); }},
      {"quantized::matmul", [](Call& c) { return quantized_binary(c, "MatMul", false); }},
      {"quantized::add_scalar", [](Call& c) { return quantized_scalar(c, "Add", false); }},
      {"quantized::add_scalar_relu", [](Call& c) { return quantized_scalar(c, "Add", true); }},
      {"quantized::mul_scalar", [](Call& c) { return quantized_scalar(c, "Mul", false); }},
      {"quantized::mul_scalar_relu", [](Call& c) { return quantized_scalar(c, "Mul", true); }},
      {"quantized::cat", [](Call& c) { return quantized_cat(c, false); }},
      {"quantized::cat_relu", [](Call& c) { return quantized_cat(c, true); }},
      {"quantized::sigmoid", [](Call& c) { return quantized_bounded(c, "Sigmoid"); }},
      {"quantized::hardsigmoid", [](Call& c) { return quantized_bounded(c, "HardSigmoid"); }},
      {"quantized::hardswish", [](Call& c) { return quantized_unary(c, "HardSwish", 1); }},
      {"quantized::elu", [](Call& c) { return quantized_unary(c, "Elu", 1); }},
      {"quantized::celu", [](Call& c) { return quantized_unary(c, "Celu", 1); }},
      {"quantized::prelu", [](Call& c) { return quantized_unary(c, "PRelu", 2); }},
      {"quantized::leaky_relu", quantized_leaky_relu},
      {"quantized::batch_norm2d", [](Call& c) { return quantized_batch_norm(c, false); }},
      {"quantized::batch_norm2d_relu", [](Call& c) { return quantized_batch_norm(c, true); }},
  };
  // clang-format on
  return kRows;
}

}  // namespace rk::frontends::torchscript
