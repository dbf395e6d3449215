// SPDX-License-Identifier: Apache-2.0
#include "quant/bias_correction.h"

#include <algorithm>
#include <cmath>

#include "quant/linear.h"
#include "quant/rounding.h"

namespace rk::quant {
namespace {

// Scales follow from the weights' own range (weight_params), so quotients are a few hundred at most.
double dequantized(double weight, double scale, double zero_point) {
  const double level = rounded(weight / scale) + zero_point;
  const double held = level < -128 ? -128 : level > 127 ? 127 : level;
  return (held - zero_point) * scale;
}

// The mean that each output channel is off by.
std::vector<double> mean_shift(const Linear& linear, const QuantParams& quant,
                               const std::vector<ChannelStats>& input) {
  const bool per_channel = quant.scale.size() > 1;
  std::vector<double> out(linear.out_channels());
  const auto weights = linear.weights().span<float>();
  // One of each per output channel, so that the loop over weights has no choices.
  const auto spread = [&](const auto& values) {
    std::vector<double> all(out.size(), 0.0);
    for (size_t c = 0; c < all.size() && !values.empty(); ++c)
      all[c] = static_cast<double>(values[per_channel ? c : 0]);
    return all;
  };
  const std::vector<double> scale = spread(quant.scale), zero_point = spread(quant.zero_point);
  std::vector<double> mean;
  for (const ChannelStats& channel : input) mean.push_back(channel.mean);
  linear.each_place([&](size_t i, Linear::Place place) {
    const double weight = weights[i];
    const double error = dequantized(weight, scale[place.out], zero_point[place.out]) - weight;
    out[place.out] += error * mean[place.in];
  });
  return out;
}

}  // namespace

size_t correct_biases(Graph& graph, const ValueStats& stats) {
  size_t corrected = 0;
  for (Node* node : graph.nodes()) {
    const auto linear = Linear::of(*node);
    if (!linear) continue;
    const Value &x = node->input(0), &w = node->input(1);
    const auto input = stats.find(x.name());
    // Parameters that a model brought along have no range; its integers are exact.
    const bool ours = w.quantized() && w.quant.dtype == DType::kI8 && !w.quant.min.empty() &&
                      (w.quant.scale.size() == 1 || w.quant.scale.size() == linear->out_channels());
    if (!ours || !x.quantized() || input == stats.end() ||
        input->second.size() != linear->in_channels()) {
      continue;
    }
    const std::vector<double> shift = mean_shift(*linear, w.quant, input->second);
    if (!std::ranges::all_of(shift, [](double s) { return std::isfinite(s); })) continue;
    std::vector<float> bias = linear->bias();
    for (size_t c = 0; c < bias.size(); ++c) bias[c] -= static_cast<float>(shift[c]);
    replace_bias(graph, *node, bias);
    ++corrected;
  }
  graph.remove_unused();
  return corrected;
}

}  // namespace rk::quant
