// SPDX-License-Identifier: Apache-2.0
// What a step of a Program is as a layer of the register writer, or why it is none.
#include "registers/layer.h"

#include <algorithm>
#include <cmath>

namespace rk::registers {

using program::kNone;
using program::ProgramTensor;
using program::Variant;

Status no_form(const program::Step& step, const std::string& what) {
  return unsupported(str("node '", step.name, "' (", step.type, "): no register form for ", what));
}

bool is_feature(const ProgramTensor& tensor) {
  return tensor.dtype == DType::kI8 && tensor.quantized() && tensor.shape.rank() == 4 &&
         tensor.shape[0] == 1 && tensor.layout == program::Layout::kNc1hwc2;
}

bool is_half_feature(const ProgramTensor& tensor) {
  return tensor.dtype == DType::kF16 && tensor.shape.rank() == 4 && tensor.shape[0] == 1 &&
         tensor.layout == program::Layout::kNc1hwc2;
}

Feature feature_of(const program::Program& program, const ProgramTensor& tensor) {
  Feature out{.channels = tensor.shape[1], .height = tensor.shape[2], .width = tensor.shape[3]};
  out.plane_align = std::max<int64_t>(tensor.plane_align, 1);
  out.is_model_input = tensor.kind == program::TensorKind::kInput;
  out.is_picture = out.is_model_input && tensor.width_align != 0;
  out.zero_point = tensor.zero_point;
  out.is_float = tensor.dtype == DType::kF16;
  if (const Chip* chip = find_chip(program.target)) out.chip = chip;
  return out;
}

namespace {

const ProgramTensor& tensor_of(const Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

// A channel's converter; empty where the registers cannot express one of them, which then all read
// the input as stored.
std::vector<PictureChannel> picture_conversion(const program::Program& program,
                                               const Variant& variant, int32_t input) {
  const auto at = std::ranges::find(variant.inputs, input) - variant.inputs.begin();
  if (static_cast<size_t>(at) >= program.inputs.size()) return {};
  const program::InputInfo& info = program.inputs[static_cast<size_t>(at)];
  const ProgramTensor& tensor = tensor_of(variant, input);
  std::vector<PictureChannel> channels;
  for (size_t c = 0; c < static_cast<size_t>(tensor.shape[1]); ++c) {
    const double mean = c < info.mean.size() ? double{info.mean[c]} : 0;
    const bool is_half = tensor.dtype == DType::kF16;
    const double unit =
        (c < info.std.size() ? double{info.std[c]} : 1) * (is_half ? 1 : double{tensor.scale});
    const auto scale = to_scale_shift(1 / unit);
    const double offset = round_even(tensor.zero_point - mean / unit);
    if (!scale.ok() || !(std::abs(offset) <= INT16_MAX)) return {};
    channels.push_back({*scale, static_cast<int32_t>(offset)});
  }
  return channels;
}

}  // namespace

Result<ConvLayer> conv_layer(const program::Program& program, const Variant& variant,
                             const program::Step& step) {
  const auto* params = std::get_if<program::ConvParams>(&step.params);
  if (params == nullptr) return no_form(step, "a step that is not a convolution");
  if (find_chip(program.target) == nullptr) return no_form(step, str("the chip ", program.target));
  const Chip* const layer_chip = find_chip(program.target);
  if (step.inputs.size() < 2 || step.inputs[1] == kNone)
    return no_form(step, "a convolution without weights");
  const ProgramTensor& in = tensor_of(variant, step.inputs[0]);
  const ProgramTensor& weight = tensor_of(variant, step.inputs[1]);
  const ProgramTensor& out = tensor_of(variant, step.outputs[0]);
  const bool is_float = is_half_feature(in) && is_half_feature(out);
  if (!is_float && (!is_feature(in) || !is_feature(out)))
    return no_form(step, "features that are not of one type in blocks of channels, one sample");
  if (!is_float && (step.inputs.size() < 3 || step.inputs[2] == kNone))
    return no_form(step, "a convolution without bias");
  if (is_float && (params->lookup || params->slope))
    return no_form(step, "a float16 convolution with a table or a slope");
  // Weights of a transposed convolution lie plain in a Program and in blocks in a file.
  const auto layout = params->transposed ? program::Layout::kPlain : program::Layout::kWeight;
  const bool packed_here = is_float || layer_chip->is_rk3566 || layer_chip->is_rk3562;
  if ((weight.layout != layout && !packed_here) || !weight.is_constant())
    return no_form(step, "weights that are not constant int8 blocks");
  ConvLayer layer{
      .params = *params, .in = feature_of(program, in), .out = feature_of(program, out)};
  layer.weight_bytes = program.weights[static_cast<size_t>(weight.weight)].bytes.size();
  layer.has_bias = step.inputs.size() > 2 && step.inputs[2] != kNone;
  const bool grouped = params->group > 1;
  layer.is_depthwise =
      grouped && params->group == layer.in.channels && params->group == layer.out.channels;
  if (grouped && !layer.is_depthwise)
    return no_form(step, "a grouped convolution that is not depthwise");
  if (params->transposed && layer.in.is_picture)
    return no_form(step, "a transposed convolution on a picture");
  layer.has_addend = step.inputs.size() > 3 && step.inputs[3] != kNone;
  if (layer.has_addend) {
    const ProgramTensor& addend = tensor_of(variant, step.inputs[3]);
    if (!(is_float ? is_half_feature(addend) : is_feature(addend)) || addend.shape != out.shape ||
        addend.kind != program::TensorKind::kInternal)
      return no_form(step, "an addend that is not a feature of the output's extents");
    if (layer.is_depthwise) return no_form(step, "a depthwise convolution with an addend");
    if (params->lookup) return no_form(step, "a lookup table with an addend");
  }
  if (params->post_activation == program::Activation::kClip)
    return no_form(step, "a limit after an addend");
  if (layer.in.is_picture && layer.in.channels == 2)
    return no_form(step, "a picture of two channels");
  if (layer.in.is_picture && layer_chip->is_rk3562)
    layer.picture = picture_conversion(program, variant, step.inputs[0]);
  if (layer.in.is_picture && layer.is_depthwise)
    return no_form(step, "a depthwise convolution on a picture");
  return layer;
}

}  // namespace rk::registers
