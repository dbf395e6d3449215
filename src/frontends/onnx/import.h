// SPDX-License-Identifier: Apache-2.0
// The ONNX importer's door: bytes that passed for ONNX so far -> Graph.
#pragma once

#include "frontends/frontend.h"

namespace rk::frontends {

Result<Graph> import_onnx_model(ByteSpan bytes, const std::string& base_dir,
                                const ImportOptions& options, const OpRegistry& registry);

}  // namespace rk::frontends
