// SPDX-License-Identifier: Apache-2.0
#include "remote/client.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "base/file.h"

namespace rk::remote {

struct RemoteLibrary {
  decltype(&rknn_remote_open) open = nullptr;
  decltype(&rknn_remote_close) close = nullptr;
  decltype(&rknn_remote_call) call = nullptr;
  decltype(&rknn_remote_infer) infer = nullptr;
  decltype(&rknn_remote_text) text = nullptr;
};

namespace {

constexpr const char* kName = "librknn_remote.so";
constexpr uint32_t kMaxOutputs = 4096;

Result<RemoteLibrary> load_library() {
  // The loader looks beside librknn_toolkit.so and in the lib folder of the rknn command: their search paths say so.
  const char* const given = secure_getenv("OPENRKNN_REMOTE_LIBRARY");
  void* const handle = dlopen(given == nullptr ? kName : given, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return Status(Code::kUnavailable,
                  str("devices are reached through ", kName, ", which cannot be loaded (",
                      why == nullptr ? "no reason is given" : why,
                      "): install the Debian package libgrpc++1.51, or build with gRPC"));
  }
  const auto version = reinterpret_cast<decltype(&rknn_remote_abi_version)>(
      dlsym(handle, "rknn_remote_abi_version"));
  if (version == nullptr || version() != RKNN_REMOTE_ABI_VERSION) {
    return Status(Code::kUnavailable,
                  str(kName, " is of another version of OpenRKNN: install both from one release"));
  }
  RemoteLibrary out;
  out.open = reinterpret_cast<decltype(out.open)>(dlsym(handle, "rknn_remote_open"));
  out.close = reinterpret_cast<decltype(out.close)>(dlsym(handle, "rknn_remote_close"));
  out.call = reinterpret_cast<decltype(out.call)>(dlsym(handle, "rknn_remote_call"));
  out.infer = reinterpret_cast<decltype(out.infer)>(dlsym(handle, "rknn_remote_infer"));
  out.text = reinterpret_cast<decltype(out.text)>(dlsym(handle, "rknn_remote_text"));
  if (out.open == nullptr || out.close == nullptr || out.call == nullptr || out.infer == nullptr ||
      out.text == nullptr) {
    return Status(Code::kUnavailable, str(kName, " lacks functions: install it again"));
  }
  return out;
}

Result<const RemoteLibrary*> library() {
  static std::mutex mutex;
  static const RemoteLibrary* loaded = nullptr;  // never unloaded: gRPC has threads
  const std::lock_guard lock(mutex);
  if (loaded == nullptr) {
    RK_ASSIGN(const RemoteLibrary found, load_library());
    loaded = new RemoteLibrary(found);
  }
  return loaded;
}

Result<std::string> text_file(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path));
  return std::string(bytes.begin(), bytes.end());
}

Result<std::string> first_line(const std::string& path) {
  RK_ASSIGN(std::string text, text_file(path));
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string member(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

// "2.3.2" of "2.3.2 (openrknn@...)" and of "2.3.2-openrknn".
std::string_view number_of(std::string_view version) {
  return version.substr(0, version.find_first_not_of("0123456789."));
}

}  // namespace

Result<std::unique_ptr<Client>> Client::open(const Device& device, const std::string& version,
                                             int timeout_ms) {
  RK_ASSIGN(const RemoteLibrary* const remote, library());
  Json options =
      Json::object({{"address", device.address}, {"version", version}, {"timeout_ms", timeout_ms}});
  if (!device.token_file.empty()) {
    RK_ASSIGN(std::string token, first_line(device.token_file));
    options.set("token", std::move(token));
  }
  const std::pair<const char*, const std::string&> files[] = {
      {"tls_ca", device.tls_ca}, {"tls_cert", device.tls_cert}, {"tls_key", device.tls_key}};
  for (const auto& [key, path] : files) {
    if (path.empty()) continue;
    RK_ASSIGN(std::string text, text_file(path));
    options.set(key, std::move(text));
  }
  std::unique_ptr<Client> out(new Client);
  out->library_ = remote;
  out->device_ = device;
  const int32_t code = remote->open(write_json(options).c_str(), &out->handle_);
  if (out->handle_ == nullptr) return out_of_memory("the system has no memory left");
  if (code == RKNN_REMOTE_UNAVAILABLE) {
    return Status(Code::kUnavailable,
                  str("no rknn_server answers for device_id '", device.id, "' (",
                      remote->text(out->handle_), "); start rknn_server there"));
  }
  if (code != 0) return out->failure(code);
  RK_ASSIGN(const Json hello, parse_json(remote->text(out->handle_)));
  out->hello_ = {member(hello, "server_version"), member(hello, "library_version"),
                 member(hello, "chip")};
  return out;
}

Client::~Client() {
  if (handle_ != nullptr) library_->close(handle_);
}

Status Client::failure(int32_t code) const {
  const std::string text = library_->text(handle_);
  switch (code) {
    case RKNN_REMOTE_UNAVAILABLE:
      return {Code::kUnavailable, text};
    case RKNN_REMOTE_EXHAUSTED:
      return out_of_memory(text);
    case RKNN_REMOTE_GONE:
      return {Code::kInvalidContext, text};
    case RKNN_REMOTE_INVALID_ARGUMENT:
    case RKNN_REMOTE_REFUSED:
      return invalid_argument(text);
    default:
      return io_error(text);
  }
}

Result<Json> Client::call(const char* method, const Json& options, std::span<const uint8_t> bytes) {
  const int32_t code =
      library_->call(handle_, method, write_json(options).c_str(), bytes.data(), bytes.size());
  if (code != 0) return failure(code);
  return parse_json(library_->text(handle_));
}

Result<Json> Client::load(const std::string& name, std::span<const uint8_t> file, Json options) {
  options.set("name", name);
  return call("load", options, file);
}

Status Client::unload(const std::string& name) {
  return call("unload", Json::object({{"name", name}})).status();
}

Result<Json> Client::describe(const std::string& name, Json shapes) {
  return call("describe", Json::object({{"name", name}, {"shapes", std::move(shapes)}}));
}

Result<Json> Client::performance(const std::string& name) {
  return call("performance", Json::object({{"name", name}}));
}

Result<Json> Client::status() { return call("status", Json::object()); }

Status Client::infer(const std::string& model, std::span<const rknn_remote_tensor> inputs,
                     std::vector<rknn_remote_tensor>& outputs) {
  auto count = static_cast<uint32_t>(outputs.size());
  outputs.resize(kMaxOutputs);
  const int32_t code =
      library_->infer(handle_, model.c_str(), inputs.data(), static_cast<uint32_t>(inputs.size()),
                      outputs.data(), &count, kMaxOutputs);
  outputs.resize(code == 0 ? count : 0);
  return code == 0 ? ok_status() : failure(code);
}

std::string version_warning(const std::string& toolkit, const Hello& hello) {
  const std::string_view ours = number_of(toolkit);
  const bool server = number_of(hello.server_version) == ours;
  const bool runtime = hello.library_version.empty() || number_of(hello.library_version) == ours;
  if (server && runtime) return {};
  return str("versions differ: toolkit ", ours, ", rknn_server ", number_of(hello.server_version),
             ", librknnrt ",
             hello.library_version.empty() ? "unknown" : number_of(hello.library_version),
             "; update the older ones where results or errors surprise");
}

}  // namespace rk::remote
