// SPDX-License-Identifier: Apache-2.0
// What a QuantizeLinear or DequantizeLinear node says, as QuantParams. For prequantized.cpp and prequantized_activations.cpp.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace rk::quant {

inline bool is_byte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

// Constant scales and zero points, 8 bits, one pair per tensor or one per index of an axis. Otherwise none: such a node
// stays an operator of its own.
std::optional<QuantParams> quantize_params(const Node& node);
std::optional<QuantParams> dequantize_params(const Node& node);

// Folds what computes scales and zero points, but neither weights nor the pairs themselves.
Status fold_scales(Graph& graph);

// The nearest stored number, saturated.
int32_t quantize_value(const QuantParams& params, float value);
std::pair<int32_t, int32_t> limits(DType dtype);

}  // namespace rk::quant
