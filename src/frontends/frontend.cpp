// SPDX-License-Identifier: Apache-2.0
// The entry points: they know which formats this build has and what a wrong file looks like.
#include "frontends/frontend.h"

#include <limits>

#include "base/file.h"
#include "frontends/file_kind.h"
#if RK_FRONTEND_ONNX
#include "frontends/onnx/export.h"
#include "frontends/onnx/import.h"
#endif

namespace rk::frontends {

#if RK_FRONTEND_ONNX

Result<Graph> import_onnx(const std::string& path, const ImportOptions& options,
                          const OpRegistry& registry) {
  // A protobuf message ends at 2 GiB; larger models keep their tensors in files of their own.
  constexpr uint64_t kLargestFile = std::numeric_limits<int32_t>::max();
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path, kLargestFile));
  const size_t slash = path.find_last_of('/');
  const std::string base_dir = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  auto graph = import_onnx_bytes(bytes, base_dir, options, registry);
  if (!graph.ok()) return graph.status().with_context(str("'", path, "'"));
  return graph;
}

Result<Graph> import_onnx_bytes(ByteSpan bytes, const std::string& base_dir,
                                const ImportOptions& options, const OpRegistry& registry) {
  if (const std::string other = recognize_other_than_onnx(bytes); !other.empty()) {
    return invalid_model(str("this is not an ONNX model: ", other));
  }
  return import_onnx_model(bytes, base_dir, options, registry);
}

Result<std::vector<uint8_t>> export_onnx(const Graph& graph) { return export_onnx_model(graph); }

#else

namespace {

Status switched_off() {
  return unsupported(
      "the ONNX importer was switched off when this library was built; configure "
      "with -DRK_FRONTEND_ONNX=ON");
}

}  // namespace

Result<Graph> import_onnx(const std::string&, const ImportOptions&, const OpRegistry&) {
  return switched_off();
}

Result<Graph> import_onnx_bytes(ByteSpan, const std::string&, const ImportOptions&,
                                const OpRegistry&) {
  return switched_off();
}

Result<std::vector<uint8_t>> export_onnx(const Graph&) { return switched_off(); }

#endif

}  // namespace rk::frontends
