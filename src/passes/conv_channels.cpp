// SPDX-License-Identifier: Apache-2.0
#include "passes/conv_channels.h"

#include <cmath>

namespace rk::passes {
namespace {

// The parameters of quantized weights whose channels are multiplied: the stored numbers stay, or
// change sign exactly (q - z and (-1 - q) - (-1 - z) are opposite).
QuantParams multiplied(const QuantParams& quant, int axis, const std::vector<float>& factor) {
  if (quant.scale.empty() || (quant.per_channel() && quant.axis != axis)) return {};
  QuantParams out = quant;
  out.axis = axis;
  out.min.clear();
  out.max.clear();
  out.scale.resize(factor.size(), quant.scale[0]);
  out.zero_point.resize(factor.size(), quant.zero_point[0]);
  const int32_t mirror = quant.dtype == DType::kU8 ? 255 : -1;
  for (size_t c = 0; c < factor.size(); ++c) {
    if (factor[c] != 0) out.scale[c] *= std::fabs(factor[c]);
    if (factor[c] < 0) out.zero_point[c] = mirror - out.zero_point[c];
  }
  return out;
}

}  // namespace

std::optional<int64_t> foldable_channels(const Node& conv) {
  const Value& weight = conv.input(1);
  if (!weight.is_constant() || weight.dtype() != DType::kF32) return std::nullopt;
  if (conv.has_input(2) && !conv.input(2).is_constant()) return std::nullopt;
  if (conv.op() == "ConvTranspose" && conv.i64("group") != 1) return std::nullopt;
  return conv.output().shape()[1];
}

Result<Rewrite> fold_into_conv(Match& match, const ChannelAffine& affine) {
  Graph& graph = match.graph();
  const Node& conv = match[0];
  const bool transposed = conv.op() == "ConvTranspose";
  const auto channels = static_cast<int64_t>(affine.scale.size());

  const Tensor& old_weight = conv.input(1).constant();
  Tensor weight = old_weight.clone();
  auto* w = weight.mutable_data<float>();
  // OIHW: a channel's weights are one run. IOHW (group 1): they recur with every input channel.
  const int64_t outer = transposed ? old_weight.shape()[0] : 1;
  const int64_t inner = old_weight.elements() / std::max<int64_t>(outer * channels, 1);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < inner; ++i)
        w[(o * channels + c) * inner + i] *= affine.scale[static_cast<size_t>(c)];
    }
  }
  Tensor bias = Tensor::make({DType::kF32, {channels}});
  auto* b = bias.mutable_data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    const float old =
        conv.has_input(2) ? static_cast<float>(conv.input(2).constant().at_f64(c)) : 0.0f;
    b[c] = old * affine.scale[static_cast<size_t>(c)] + affine.shift[static_cast<size_t>(c)];
  }
  Value* new_weight = graph.add_constant(conv.input(1).name(), std::move(weight));
  new_weight->quant = multiplied(conv.input(1).quant, transposed ? 1 : 0, affine.scale);
  Value* new_bias = graph.add_constant(
      conv.has_input(2) ? conv.input(2).name() : conv.name() + "_bias", std::move(bias));
  return match.replace_with({std::string(conv.op()),
                             conv.name(),
                             {&conv.input(0), new_weight, new_bias},
                             {""},
                             conv.attrs()});
}

}  // namespace rk::passes
