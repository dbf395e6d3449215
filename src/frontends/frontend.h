// SPDX-License-Identifier: Apache-2.0
// ONNX by name, for callers that have nothing else: model_source.h is the door for every format.
#pragma once

#include "frontends/model_source.h"

namespace rk::frontends {

// import_model() and import_files() for ONNX. Tensors stored outside the file are looked for beside it.
Result<Graph> import_onnx(const std::string& path, const ImportOptions& options,
                          const OpRegistry& registry);
// `base_dir` is where external tensors lie; empty: they are refused.
Result<Graph> import_onnx_bytes(ByteSpan bytes, const std::string& base_dir,
                                const ImportOptions& options, const OpRegistry& registry);

// The graph as an ONNX file that import_onnx() reads back and Netron shows; see onnx/export.h.
Result<std::vector<uint8_t>> export_onnx(const Graph& graph);

}  // namespace rk::frontends
