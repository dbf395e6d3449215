// SPDX-License-Identifier: Apache-2.0
// Models that arrive quantized (QAT exports, ONNX QDQ and, split by the importer, QOperator): their scales, zero points
// and integer weights become QuantParams on the graph's values, unchanged.
//
// Note: the order matters. float_borders() runs once after import, on the graph that stays the golden side.
// take_constants() runs before the passes, so that BatchNorm can be folded into quantized weights; take_activations()
// runs after them, so that Quantize/Dequantize pairs keep passes from fusing over a rounding the model was trained with.
#pragma once

#include "quant/quantize.h"

namespace rk::quant {

// The graph has a DequantizeLinear or QuantizeLinear node.
bool is_prequantized(const Graph& graph);

// int8 and uint8 inputs that are only dequantized become float inputs that are rounded on the same scale, results of a
// QuantizeLinear that are outputs are dequantized: applications exchange real numbers, whatever the file stores.
Status float_borders(Graph& graph);

// Constants behind DequantizeLinear become f32 constants with the integers' QuantParams; every other node with constant
// inputs is folded too, and a Transpose or Reshape in between keeps the parameters.
Status take_constants(Graph& graph);

// Every QuantizeLinear/DequantizeLinear pair with one constant scale goes; the value it rounded carries the parameters.
// A value between two operators that only move or clamp takes those of its neighbor, where two scales meet an
// exDataConvert is inserted. What stays without parameters runs in float16.
Status take_activations(Graph& graph, const QuantizeOptions& options);

bool has_quantized_activations(const Graph& graph);

}  // namespace rk::quant
