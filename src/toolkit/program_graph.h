// SPDX-License-Identifier: Apache-2.0
// The way back: a compiled Program as a float graph with QuantizeLinear and DequantizeLinear around
// every int8 tensor ("QDQ"), so that a model whose source is lost can be looked at, compared and
// converted again.
//
// Note: the graph computes with real numbers between int8 tensors, the NPU with integers; results
// differ by rounding. What the API does to an input before the model (mean, std) is not part of it.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "program/program.h"

namespace rk::toolkit {

// The main variant. The Program must have passed verify(). kUnsupported names a step that has no
// form in ONNX (custom operators). An activation by lookup table is written as the function whose values the table holds,
// or, when that is not recognized, as the table itself: Gather between clipped, interpolated places.
Result<Graph> graph_of(const program::Program& program, const OpRegistry& operators);

// The file at `rknn`, ours or the vendor's, as an ONNX file. Returns what the graph does not say: mean
// and std of inputs, further shapes.
Result<std::vector<std::string>> lift_to_onnx(const std::string& rknn, const std::string& onnx);

}  // namespace rk::toolkit
