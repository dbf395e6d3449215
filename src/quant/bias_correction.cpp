// SPDX-License-Identifier: Apache-2.0
#include "quant/bias_correction.h"

#include <algorithm>
#include <cmath>

#include "base/fixed_point.h"
#include "quant/linear.h"

namespace rk::quant {
namespace {

double dequantized(double weight, double scale, int32_t zero_point) {
  const double level = std::clamp(round_even(weight / scale) + zero_point, -128.0, 127.0);
  return (level - zero_point) * scale;
}

// The mean that each output channel is off by.
std::vector<double> mean_shift(const Linear& linear, const QuantParams& quant,
                               const std::vector<ChannelStats>& input) {
  const bool per_channel = quant.scale.size() > 1;
  std::vector<double> out(linear.out_channels());
  const auto weights = linear.weights().span<float>();
  linear.each_place([&](size_t i, Linear::Place place) {
    const size_t c = per_channel ? place.out : 0;
    const int32_t zero_point = quant.zero_point.empty() ? 0 : quant.zero_point[c];
    const double error = dequantized(weights[i], quant.scale[c], zero_point) - weights[i];
    out[place.out] += error * input[place.in].mean;
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
