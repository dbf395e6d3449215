// SPDX-License-Identifier: Apache-2.0
// Observed ranges become quantisation parameters on the graph's values: activations one int8 pair per tensor, weights
// int8 per output channel or per layer, all asymmetric, all ranges containing 0.
#pragma once

#include <vector>

#include "quant/observe.h"
#include "quant/regions.h"

namespace rk::quant {

enum class WeightMethod { kLayer, kChannel };

struct QuantizeOptions {
  WeightMethod weights = WeightMethod::kChannel;
  const target::Target* target = nullptr;  // whose int8 operators count; null: all that have a rule
  FloatLayers float_layers;  // outputs of nodes that stay float16 (hybrid quantisation)
};

// scale = (max - min) / 255, zero_point = round(-128 - min / scale); the range is first extended to hold 0. An empty
// range (always 0) gets scale 1/255.
QuantParams activation_params(Range range);

// Per channel of `axis` (-1: whole tensor). A channel's scale is never below 1/512 of the widest one's, so that the
// chip's 14-bit multiplier keeps at least 6 bits; floored channels are listed, if asked for.
QuantParams weight_params(const Tensor& weights, int axis, std::vector<int64_t>* floored = nullptr);

// Sets `quant` on every float value of the graph that an int8 chip holds as int8.
Status quantize(Graph& graph, const Ranges& ranges, const QuantizeOptions& options);

}  // namespace rk::quant
