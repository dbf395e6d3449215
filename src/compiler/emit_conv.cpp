// SPDX-License-Identifier: Apache-2.0
// Conv, FusedConv and ConvTranspose. Taken: pictures with constant weights and the activations the
// NPU has before and after the add. Anything else runs by its definition.
#include "compiler/conv_step.h"
#include "compiler/emit.h"
#include "ops/nn/conv.h"

namespace rk::compiler {
namespace {

using program::Activation;

// What a FusedConv asks for, reduced to the chip's two places. Empty: not available there.
struct Activations {
  Activation before_add = Activation::kNone;
  Activation after_add = Activation::kNone;
  float clip_limit = 0;
};

std::optional<Activation> parse_activation(const Node& node, std::string_view attr) {
  const std::string& text = node.text(attr);
  if (text.empty()) return Activation::kNone;
  if (text == "Relu") return Activation::kRelu;
  const bool limited = text == "Clip" && node.has_attr("clip_min") && node.has_attr("clip_max") &&
                       node.f32("clip_min") == 0 && node.f32("clip_max") >= 0;
  return limited ? std::optional(Activation::kClip) : std::nullopt;
}

std::optional<Activations> activations_of(const Node& node) {
  if (node.op() != "FusedConv") return Activations{};
  const auto first = parse_activation(node, "activation");
  const auto second = parse_activation(node, "post_activation");
  if (!first || !second) return std::nullopt;
  Activations out{*first, *second};
  if (!node.has_input(3)) {
    // Nothing is added in between, so the stricter of the two is both.
    if (out.after_add == Activation::kClip || out.before_add == Activation::kNone) {
      out.before_add = out.after_add;
    }
    out.after_add = Activation::kNone;
  }
  if (out.after_add == Activation::kClip) return std::nullopt;
  if (out.before_add == Activation::kClip) out.clip_limit = node.f32("clip_max");
  return out;
}

std::string_view suffix(Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return "";
    case Activation::kRelu:
      return "Relu";
    case Activation::kClip:
      return "Clip";
  }
  return "";
}

bool fits_params(const ops::Window& window) {
  for (int axis = 1; axis <= 2; ++axis) {
    if (window.pads.begin(axis) < 0 || window.pads.end(axis) < 0) return false;
  }
  return window.spatial_rank == 2;
}

program::Extent2 extent(const ops::Extent& e) {
  return {static_cast<int32_t>(e.h), static_cast<int32_t>(e.w)};
}

void set_geometry(const ops::ConvAttrs& attrs, program::ConvParams& p) {
  const ops::Window& window = attrs.window;
  p.kernel = extent(window.kernel);
  p.stride = extent(window.stride);
  p.dilation = extent(window.dilation);
  p.pads = {static_cast<int32_t>(window.pads.top), static_cast<int32_t>(window.pads.left),
            static_cast<int32_t>(window.pads.bottom), static_cast<int32_t>(window.pads.right)};
  p.group = static_cast<int32_t>(attrs.group);
}

// Constants and tensors of a Conv-like node; `channel_axis` is that of its weights. A tail is there for integers only.
Result<bool> emit_convolution(const Node& node, const ConvTail* tail, const ops::ConvAttrs& attrs,
                              ConvSpec spec, int channel_axis, Builder& builder) {
  const bool constant = node.input(1).is_constant() &&
                        (!node.has_input(2) || node.input(2).is_constant()) &&
                        !node.input(0).is_constant();
  const Value* const addend = node.has_input(3) ? &node.input(3)
                              : tail != nullptr ? tail->addend
                                                : nullptr;
  if (!constant || !fits_params(attrs.window) || !is_float(node.input(0).dtype())) return false;
  if (addend != nullptr && addend->is_constant()) return false;

  const Value &x = node.input(0), &w = node.input(1);
  const Value& y = tail != nullptr ? *tail->output : node.output();
  set_geometry(attrs, spec.params);
  spec.in_channels = attrs.in_channels;
  spec.out_channels = attrs.out_channels;
  spec.weight_name = w.name();
  spec.keep_weight_scales = w.quantized() && w.quant.min.empty();
  spec.bias_name = node.has_input(2) ? node.input(2).name() : w.name() + "_bias";
  spec.weight_shape = w.shape();
  spec.weights = w.constant().to_f32();
  if (node.has_input(2)) spec.bias = node.input(2).constant().to_f32();
  spec.reads_picture = builder.graph().is_input(x) && program::is_picture(x.shape());
  spec.macs = macs_of(node);

  const bool integer = builder.may_use_integers(node) && is_i8(x) && is_i8(y) && w.quantized() &&
                       (addend == nullptr || is_i8(*addend));
  if (!integer) {
    spec.data = builder.as_f16(x);
    if (addend != nullptr) spec.addend = builder.as_f16(*addend);
    spec.output = builder.output(y, DType::kF16);
    const int32_t written = spec.output;
    RK_TRY(emit_conv_step(std::move(spec), builder));
    builder.finish_output(y, written);
    return true;
  }
  const auto scales = channel_scales(w, channel_axis, attrs.out_channels);
  if (!scales) {
    return invalid_model(str("the weight '", w.name(), "' is quantized with ", w.quant.scale.size(),
                             " scales on axis ", w.quant.axis, " for ", attrs.out_channels,
                             " output channels on axis ", channel_axis));
  }
  spec.weight_scale = scales->scale;
  spec.weight_zero_point = scales->zero_point;
  spec.exact_weight_scale = exact_scales(w.quant);
  const std::vector<double> of_input = exact_scales(x.quant);
  if (of_input.size() == 1) spec.exact_in_scale = of_input[0];
  spec.in = affine_of(x);
  spec.out = affine_of(y);
  spec.data = builder.home(x);
  if (addend != nullptr) {
    spec.added = affine_of(*addend);
    spec.addend = builder.home(*addend);
  }
  if (tail != nullptr) add_tail(*tail, spec);
  spec.output = builder.home(y);
  RK_TRY(emit_conv_step(std::move(spec), builder));
  return true;
}

}  // namespace

Result<bool> emit_conv(const Node& node, const ConvTail* tail, Builder& builder) {
  const auto activations = activations_of(node);
  if (!activations) return false;
  ConvSpec spec;
  spec.name = str("Conv:", node.name());
  spec.type = str("Conv", suffix(activations->before_add), node.has_input(3) ? "Add" : "",
                  suffix(activations->after_add));
  spec.params.activation = activations->before_add;
  spec.params.post_activation = activations->after_add;
  spec.clip_limit = activations->clip_limit;
  return emit_convolution(node, tail, ops::conv_attrs(node), std::move(spec), 0, builder);
}

Result<bool> emit_conv_transpose(const Node& node, const ConvTail* tail, Builder& builder) {
  const ops::ConvTransposeAttrs attrs = ops::conv_transpose_attrs(node);
  ConvSpec spec;
  spec.name = str("ConvTranspose:", node.name());
  spec.type = "ConvTranspose";
  spec.params.transposed = true;
  // Output padding beyond the stride has no place in the parameters; see program::verify().
  for (int axis = 1; axis <= 2 && attrs.window.spatial_rank == 2; ++axis) {
    const int64_t in = node.input(0).shape()[axis + 1], out = attrs.output.at(axis);
    const int64_t least = (in - 1) * attrs.window.stride.at(axis) + attrs.window.reach(axis) -
                          attrs.window.pads.begin(axis) - attrs.window.pads.end(axis);
    const int64_t room = std::max(attrs.window.stride.at(axis), attrs.window.dilation.at(axis));
    if (out < least || out >= least + room) return false;
  }
  return emit_convolution(node, tail, attrs, std::move(spec), attrs.depthwise() ? 0 : 1, builder);
}

}  // namespace rk::compiler
