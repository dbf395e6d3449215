// SPDX-License-Identifier: Apache-2.0
// Observed ranges become quantization parameters on the graph's values: activations one int8 pair per tensor, weights
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
  FloatLayers float_layers;  // outputs of nodes that stay float16 (hybrid quantization)
  FloatLayers i16_layers;    // outputs of nodes that compute in int16 (likewise)
  DType dtype = DType::kI8;  // of everything else: int8 or int16
};

// scale = (max - min) / 255, zero_point = round(-128 - min / scale); the range is first extended to hold 0. An empty
// range (always 0) gets scale 1/255. int16: 65535 and -32768.
QuantParams activation_params(Range range, DType dtype = DType::kI8);

// Per channel of `axis` (-1: whole tensor). A channel's scale is never below 1/512 of the widest one's, so that the
// chip's 14-bit multiplier keeps at least 6 bits; floored channels are listed, if asked for.
QuantParams weight_params(const Tensor& weights, int axis, std::vector<int64_t>* floored = nullptr,
                          DType dtype = DType::kI8);

// Channels whose scale is wider than their own range asks for; all-zero ones lose nothing by it and are left out.
std::vector<int64_t> floored_channels(const QuantParams& weights);

// Sets `quant` on the constant weights of an accumulating node that the chip computes in int8, unless they have it.
Status quantize_weights(const Node& node, const QuantizeOptions& options);

// Sets `quant` on every float value of the graph that an int8 chip holds as int8, and on what layers of `i16_layers`
// compute. A value that has parameters keeps them, and what shares its scale takes them.
Status quantize(Graph& graph, const Ranges& ranges, const QuantizeOptions& options);

}  // namespace rk::quant
