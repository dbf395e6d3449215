// SPDX-License-Identifier: Apache-2.0
#include "frontends/frontend.h"

#if RK_FRONTEND_ONNX
#include "frontends/onnx/export.h"
#endif

namespace rk::frontends {

Result<Graph> import_onnx(const std::string& path, const ImportOptions& options,
                          const OpRegistry& registry) {
  RK_ASSIGN(Imported model, import_model({path}, "onnx", options, registry));
  return std::move(model.graph);
}

Result<Graph> import_onnx_bytes(ByteSpan bytes, const std::string& base_dir,
                                const ImportOptions& options, const OpRegistry& registry) {
  const ModelFile file{base_dir.empty() ? "" : base_dir + "/", bytes};
  RK_ASSIGN(Imported model, import_files({&file, 1}, "onnx", options, registry));
  return std::move(model.graph);
}

#if RK_FRONTEND_ONNX
Result<std::vector<uint8_t>> export_onnx(const Graph& graph) { return export_onnx_model(graph); }
#else
Result<std::vector<uint8_t>> export_onnx(const Graph&) {
  return unsupported(
      "ONNX was switched off when this library was built; configure with -DRK_FRONTEND_ONNX=ON");
}
#endif

}  // namespace rk::frontends
