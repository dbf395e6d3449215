// SPDX-License-Identifier: Apache-2.0
// Model file -> Graph, one entry point per format. The graph that comes back speaks the newest ONNX vocabulary,
// has static shapes only, has been verified, and holds nothing of the file. Constant sub-graphs are already folded.
//
// What a newcomer gets wrong: an operator that cannot be imported is no error while nothing that is asked for depends
// on it; so the message about it comes at the end, once, with all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "ir/graph.h"

namespace rk::frontends {

// The lists stand for the arguments `inputs`, `input_size_list`, `input_initial_val` and `outputs` of the load_...
// calls; messages use those names.
struct ImportOptions {
  // Tensors to cut the graph at; any tensor of the main graph. Empty: the model's own inputs.
  std::vector<std::string> inputs;
  // One per input, in the order of `inputs` or else of the model. Empty list: as the model says; an empty entry:
  // this input as the model says.
  std::vector<std::vector<int64_t>> input_shapes;
  // Tensors to end at; empty: the model's own outputs.
  std::vector<std::string> outputs;
  // One per input; an input with a value becomes a constant. Another dtype is converted.
  std::vector<std::optional<Tensor>> input_initial_values;
  // Inputs of sequence or optional type: the types of the elements they hold. Each element of a sequence becomes an
  // input of its own, "<name>_<index>"; an optional without an element is absent.
  std::map<std::string, std::vector<TensorType>> container_inputs;
};

// kIo when the file cannot be read, kInvalidModel when its bytes are wrong, kInvalidArgument when an option is,
// kUnsupported when it needs what is not offered. Tensors stored outside the file are looked for beside it.
Result<Graph> import_onnx(const std::string& path, const ImportOptions& options,
                          const OpRegistry& registry);

// The same for a model in memory. `base_dir` is where external tensors lie; empty: they are refused.
Result<Graph> import_onnx_bytes(ByteSpan bytes, const std::string& base_dir,
                                const ImportOptions& options, const OpRegistry& registry);

// The graph as an ONNX file that import_onnx() reads back and Netron shows; see onnx/export.h.
Result<std::vector<uint8_t>> export_onnx(const Graph& graph);

}  // namespace rk::frontends
