// SPDX-License-Identifier: Apache-2.0
// Plug-in libraries: one operator each, behind the function get_rknn_custom_op.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "base/log.h"
#include "capi/custom_op.h"

namespace rk::capi {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendorFolder = "/usr/lib/rknpu/op_plugins/";

std::vector<std::string> folders() {
  std::vector<std::string> out;
  // Not in programs that run with more rights than their caller: a folder is code.
  if (const char* const text = secure_getenv("RKNN_OP_PLUGIN_DIR"); text != nullptr) {
    const std::string_view list = text;
    for (size_t from = 0; from <= list.size();) {
      const size_t end = std::min(list.find(':', from), list.size());
      if (end > from) out.emplace_back(list.substr(from, end - from));
      from = end + 1;
    }
  }
  out.emplace_back(kVendorFolder);
  return out;
}

std::vector<std::string> libraries(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with("librkcst_") || !name.ends_with(".so")) continue;
    // Plain files only, not what a link points to.
    if (it->symlink_status(ignored).type() != fs::file_type::regular) continue;
    out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<Plugin> load(const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    log(LogLevel::kWarning, str("plug-in '", path, "' is not used: ", why));
    return std::nullopt;
  };
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return refuse(why == nullptr ? "it cannot be loaded" : why);
  }
  const auto get = reinterpret_cast<get_custom_op_func>(dlsym(library, "get_rknn_custom_op"));
  if (get == nullptr) return refuse("it exports no function get_rknn_custom_op");
  const rknn_custom_op* const op = get();
  if (op == nullptr) return refuse("get_rknn_custom_op returned NULL");
  log(LogLevel::kInfo, str("custom operator '", op->op_type, "' from plug-in '", path, "'"));
  const auto infer =
      reinterpret_cast<openrknn_infer_shapes_func>(dlsym(library, "openrknn_infer_shapes"));
  return Plugin{*op, infer};
}

}  // namespace

std::vector<Plugin> plugin_operators() {
  static std::mutex mutex;
  static auto* const loaded = new std::map<std::string, std::optional<Plugin>>;
  const std::lock_guard lock(mutex);
  std::vector<Plugin> out;
  for (const std::string& folder : folders()) {
    for (const std::string& path : libraries(folder)) {
      auto it = loaded->find(path);
      if (it == loaded->end()) it = loaded->emplace(path, load(path)).first;
      if (it->second) out.push_back(*it->second);
    }
  }
  return out;
}

}  // namespace rk::capi
