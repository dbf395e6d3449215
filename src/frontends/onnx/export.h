// SPDX-License-Identifier: Apache-2.0
// Graph -> ONNX file, for people to look at (Netron) and for import_onnx() to read back: every value keeps its name.
//
// Note: the file says nothing about quantization. Parameters of values are kept elsewhere by whoever
// wants them back; constants are written as the graph holds them.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace rk::frontends {

// Operators that ONNX does not have (FusedConv, ex...) are written in this domain.
inline constexpr std::string_view kOwnDomain = "openrknn";

// kUnsupported for a model beyond the 2 GiB of a protobuf message.
Result<std::vector<uint8_t>> export_onnx_model(const Graph& graph);

}  // namespace rk::frontends
