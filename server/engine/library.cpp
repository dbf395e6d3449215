// SPDX-License-Identifier: Apache-2.0
#include "server/engine/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"

namespace rk::server {
namespace {

namespace fs = std::filesystem;

std::string loader_says() {
  const char* const text = dlerror();
  return text == nullptr ? "the loader gives no reason" : text;
}

// "2.3.2 (openrknn@...)" of "librknnrt version: 2.3.2 (openrknn@...)"; librknnmrt likewise.
std::string version_in(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes.ok()) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  for (const std::string_view mark : {"librknnrt version: ", "librknnmrt version: "}) {
    const size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + mark.size(), 80);
    const auto end = std::ranges::find_if(rest, [](char c) { return c < 32 || c > 126; });
    return std::string(rest.begin(), end);
  }
  return {};
}

struct Name {
  int result;
  const char* name;
  Code code;
};
constexpr Name kNames[] = {
    {RKNN_ERR_FAIL, "RKNN_ERR_FAIL", Code::kIo},
    {RKNN_ERR_TIMEOUT, "RKNN_ERR_TIMEOUT", Code::kTimeout},
    {RKNN_ERR_DEVICE_UNAVAILABLE, "RKNN_ERR_DEVICE_UNAVAILABLE", Code::kUnavailable},
    {RKNN_ERR_MALLOC_FAIL, "RKNN_ERR_MALLOC_FAIL", Code::kOutOfMemory},
    {RKNN_ERR_PARAM_INVALID, "RKNN_ERR_PARAM_INVALID", Code::kInvalidArgument},
    {RKNN_ERR_MODEL_INVALID, "RKNN_ERR_MODEL_INVALID", Code::kInvalidModel},
    {RKNN_ERR_CTX_INVALID, "RKNN_ERR_CTX_INVALID", Code::kInvalidContext},
    {RKNN_ERR_INPUT_INVALID, "RKNN_ERR_INPUT_INVALID", Code::kInvalidInput},
    {RKNN_ERR_OUTPUT_INVALID, "RKNN_ERR_OUTPUT_INVALID", Code::kInvalidOutput},
    {RKNN_ERR_DEVICE_UNMATCH, "RKNN_ERR_DEVICE_UNMATCH", Code::kUnavailable},
    {RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL, "RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL",
     Code::kInvalidModel},
    {RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION,
     "RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION", Code::kInvalidModel},
    {RKNN_ERR_TARGET_PLATFORM_UNMATCH, "RKNN_ERR_TARGET_PLATFORM_UNMATCH", Code::kTargetMismatch},
};

}  // namespace

Status check(int result, const char* function) {
  if (result == RKNN_SUCC) return ok_status();
  const auto* const known = std::ranges::find(kNames, result, &Name::result);
  const bool named = known != std::end(kNames);
  return {named ? known->code : Code::kIo, str(function, ": ", named ? known->name : "error", " (",
                                               result, "); the log of the server says why")};
}

Result<std::shared_ptr<const Library>> Library::open(const std::string& path,
                                                     const std::string& plugins) {
  // Never closed: the vendor's library leaves threads behind.
  // Global: plug-ins call the runtime (rknn_custom_op_get_op_attr) without naming the library it is in.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    return Status(Code::kUnavailable, str("--library '", path, "': ", loader_says()));
  auto out = std::make_shared<Library>();
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr) out->missing_.push_back(name);
  };
#define RK_SERVER_FIND(function) find(out->function, #function);
  RK_SERVER_NEEDED_FUNCTIONS(RK_SERVER_FIND)
  if (!out->missing_.empty()) {
    return Status(Code::kUnavailable,
                  str("--library '", path, "' is no RKNN runtime: it has no function ",
                      out->missing_.front()));
  }
  RK_SERVER_OPTIONAL_FUNCTIONS(RK_SERVER_FIND)
#undef RK_SERVER_FIND
  const link_map* map = nullptr;
  const bool found = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
  out->path_ = found ? map->l_name : path;
  out->version_ = version_in(out->path_);
  if (!plugins.empty()) RK_TRY(out->load_plugins(plugins));
  return std::shared_ptr<const Library>(std::move(out));
}

Status Library::load_plugins(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("librkcst_") && name.ends_with(".so"))
      files.push_back(it->path().string());
  }
  if (error) return io_error(str("--plugins '", folder, "': ", error.message()));
  if (!files.empty() && rknn_register_custom_ops == nullptr) {
    return {Code::kUnavailable, str("--plugins: the library '", path_,
                                    "' takes no custom operators (no rknn_register_custom_ops)")};
  }
  std::ranges::sort(files);
  for (const std::string& file : files) {
    void* const plugin = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return {Code::kUnavailable, str("plug-in: ", loader_says())};
    const auto get = reinterpret_cast<get_custom_op_func>(dlsym(plugin, "get_rknn_custom_op"));
    const rknn_custom_op* const op = get == nullptr ? nullptr : get();
    if (op == nullptr)
      return {Code::kUnavailable,
              str("plug-in '", file, "' gives no operator (get_rknn_custom_op)")};
    operators_.push_back(*op);
    log(LogLevel::kInfo, str("operator '", op->op_type, "' from plug-in '", file, "'"));
  }
  return ok_status();
}

}  // namespace rk::server
