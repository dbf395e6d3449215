// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph are needed, and in which order they can be imported. The format asks for sorted nodes; files
// edited by hand or by tools are not always.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/rk_onnx.pb.h"

namespace rk::frontends {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// "node 'conv1' (Conv)"; an unnamed node is called by its first output.
std::string node_label(const onnx::NodeProto& node);

// Everything the node reads: its inputs and what its sub-graphs take from outside.
std::vector<std::string> names_read(const onnx::NodeProto& node);

// The nodes `wanted` depends on, without looking behind `known` (inputs and constants): producers first, else in the
// file's order. kInvalidModel when two nodes produce the same name or when there is a cycle. A name that nobody
// produces is not this function's business.
Result<std::vector<const onnx::NodeProto*>> order_nodes(const NodeList& nodes,
                                                        const std::vector<std::string>& wanted,
                                                        const std::set<std::string>& known);

}  // namespace rk::frontends
