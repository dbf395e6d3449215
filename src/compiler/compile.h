// SPDX-License-Identifier: Apache-2.0
// Quantized or float graph -> Program: placement, steps, chip-native constants, the chip's memory
// plan. The graph has been through passes and, for int8, the quantizer: every quantized Value
// carries its QuantParams while constants still hold float32.
//
// Note: a Value without QuantParams is float16 in the Program, whatever float type
// the graph says. Integers and bools keep their dtype.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "program/program.h"

namespace rk::compiler {

struct CompileOptions {
  std::string target = "rk3588";
  std::string framework = "ONNX";
  std::string toolkit_version;
  std::string compiler_version;
  std::string custom_string;
  bool single_core = false;
  // Node name, output name or operator type, in this order -> "npu", "cpu", "gpu" or "auto".
  std::map<std::string, std::string> op_target;
  // Bits of weights whose layer computes in float16: 16, 8 or 4, and what shares a scale ("layer", "channel", "group32").
  int float_weight_bits = 16;
  std::string float_weight_method = "channel";
  // Smaller weights stay float16.
  int64_t least_narrow_weights = 0;
  // Outputs of nodes that compute in float16 although what they read and write may be int8.
  std::set<std::string, std::less<>> float_layers;
  // In the order of the graph's inputs; missing ones get the defaults.
  std::vector<program::InputInfo> inputs;
};

// Errors name the node. The result has passed program::verify().
Result<program::Program> compile(const Graph& graph, const CompileOptions& options);

// One variant per graph: the same model at different input shapes. Constants with equal bytes are
// stored once. `graph(i)` is called for 0 <= i < count, and each result let go before the next, as
// several hundred shapes of a large model do not fit in memory at once.
using GraphSource = std::function<Result<Graph>(size_t i)>;
Result<program::Program> compile(const GraphSource& graph, size_t count,
                                 const CompileOptions& options);

// A layer whose ranges the chip's integers cannot express: a scale or a bias is out of reach. In float16 it may do.
struct UnfitLayer {
  std::string output;  // of the node, by which the layer is known
  Status why;          // names the node
};
// As compile(), with the unfit layers as data. Where there are any, there is no program.
struct Compiled {
  std::optional<program::Program> program;
  std::vector<UnfitLayer> unfit;
};
Result<Compiled> compile_or_find_unfit(const Graph& graph, const CompileOptions& options);

}  // namespace rk::compiler
