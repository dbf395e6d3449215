// SPDX-License-Identifier: Apache-2.0
// rknn_server: runs models for clients at a distance, over the Open Inference Protocol, on any librknnrt.so.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/suggest.h"
#include "server/engine/store.h"
#include "server/service/serve.h"

namespace {

using rk::Result;
using rk::Status;
using rk::str;

struct Settings {
  std::string library = "librknnrt.so";
  std::string models;
  std::string plugins;
  rk::server::ServeOptions serve;
  rk::server::Limits limits;
  bool help = false;
  bool version = false;
};

struct Option {
  const char* name;
  const char* value;  // null: takes none
  const char* doc;
  std::function<Status(Settings&, const std::string&)> set;
};

template <typename T>
std::function<Status(Settings&, const std::string&)> number(T& (*place)(Settings&),
                                                            const char* name, uint64_t least,
                                                            uint64_t most) {
  return [=](Settings& settings, const std::string& text) -> Status {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      return rk::invalid_argument(
          str(name, " '", text, "': expect a number from ", least, " to ", most));
    place(settings) = static_cast<T>(value);
    return rk::ok_status();
  };
}

std::function<Status(Settings&, const std::string&)> text(std::string& (*place)(Settings&)) {
  return [=](Settings& settings, const std::string& given) {
    place(settings) = given;
    return rk::ok_status();
  };
}

std::function<Status(Settings&, const std::string&)> flag(bool& (*place)(Settings&)) {
  return [=](Settings& settings, const std::string&) {
    place(settings) = true;
    return rk::ok_status();
  };
}

#define RK_TEXT(member) text([](Settings& s) -> std::string& { return s.member; })
#define RK_FLAG(member) flag([](Settings& s) -> bool& { return s.member; })
#define RK_NUMBER(type, member, name, least, most) \
  number<type>([](Settings& s) -> type& { return s.member; }, name, least, most)

const std::vector<Option>& options() {
  constexpr uint64_t kTera = uint64_t{1} << 40;
  static const auto* const table = new std::vector<Option>{
      {"--library", "PATH", "the runtime that drives the NPU, default librknnrt.so",
       RK_TEXT(library)},
      {"--models", "DIR", "serve every NAME.rknn of this folder to everybody", RK_TEXT(models)},
      {"--model-control", nullptr, "clients may unload and load the models of that folder",
       RK_FLAG(serve.model_control)},
      {"--plugins", "DIR", "operators (librkcst_*.so) for every model", RK_TEXT(plugins)},
      {"--chip", "NAME", "what clients are told; default: read from the device tree",
       RK_TEXT(serve.chip)},
      {"--address", "HOST",
       "default 127.0.0.1; others need a token or client certificates; or unix:PATH",
       RK_TEXT(serve.address)},
      {"--port", "N", "default 8001; 0: any that is free",
       RK_NUMBER(int, serve.port, "--port", 0, 65535)},
      {"--port-file", "FILE", "write the port there once clients can connect",
       RK_TEXT(serve.port_file)},
      {"--token-file", "FILE", "clients must send its first line", RK_TEXT(serve.token_file)},
      {"--tls-cert", "FILE", "PEM certificate of this server", RK_TEXT(serve.tls_certificate)},
      {"--tls-key", "FILE", "and its key", RK_TEXT(serve.tls_key)},
      {"--tls-client-ca", "FILE", "clients must have a certificate signed by this one",
       RK_TEXT(serve.tls_client_ca)},
      {"--instances", "N", "contexts of one model, default: number of CPUs",
       RK_NUMBER(uint32_t, limits.instances, "--instances", 1, 64)},
      {"--max-contexts", "N", "of all models, default 64",
       RK_NUMBER(uint32_t, limits.max_contexts, "--max-contexts", 1, 65536)},
      {"--max-sessions", "N", "clients with models of their own, default 32",
       RK_NUMBER(uint32_t, limits.max_sessions, "--max-sessions", 1, 4096)},
      {"--max-models", "N", "of one session, default 16",
       RK_NUMBER(uint32_t, limits.max_models_per_session, "--max-models", 1, 4096)},
      {"--max-model-bytes", "N", "size of one model, default 1073741824",
       RK_NUMBER(uint64_t, limits.max_model_bytes, "--max-model-bytes", 1, UINT32_MAX)},
      {"--max-message-bytes", "N", "size of one call, default 67108864",
       RK_NUMBER(uint64_t, limits.max_message_bytes, "--max-message-bytes", 1 << 16, INT32_MAX)},
      {"--max-bytes-in-flight", "N", "of all calls and uploads under way, default 1073741824",
       RK_NUMBER(uint64_t, limits.max_bytes_in_flight, "--max-bytes-in-flight", 1 << 16, kTera)},
      {"--max-tensors", "N", "inputs and named outputs of one call, default 64",
       RK_NUMBER(uint32_t, limits.max_tensors, "--max-tensors", 1, 4096)},
      {"--max-waiting", "N", "calls that wait for one model, default 256",
       RK_NUMBER(uint32_t, limits.max_waiting, "--max-waiting", 0, 65536)},
      {"--idle", "SECONDS", "a session without calls ends after so long, default 3600; 0: never",
       RK_NUMBER(uint32_t, limits.idle_s, "--idle", 0, UINT32_MAX)},
      {"--upload-time", "SECONDS", "an upload that takes longer is ended, default 600",
       RK_NUMBER(uint32_t, limits.upload_s, "--upload-time", 1, 86400)},
      {"--version", nullptr, "print the version and end", RK_FLAG(version)},
      {"--help", nullptr, "this text", RK_FLAG(help)},
  };
  return *table;
}

Result<Settings> parse(const std::vector<std::string>& words) {
  Settings settings;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const Option* found = nullptr;
    std::vector<std::string> names;
    for (const Option& option : options()) {
      names.push_back(option.name);
      if (name == option.name) found = &option;
    }
    if (found == nullptr) {
      const std::string close = rk::close_names(name, names);
      return rk::invalid_argument(str("unknown option '", name, "'",
                                      close.empty() ? "" : "; did you mean ", close,
                                      "? rknn_server --help lists all"));
    }
    std::string value;
    if (found->value == nullptr) {
      if (equals != std::string::npos) return rk::invalid_argument(str(name, " takes no value"));
    } else if (equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else {
      if (i + 1 == words.size())
        return rk::invalid_argument(str(name, " needs a value: ", found->value));
      value = words[++i];
    }
    RK_TRY(found->set(settings, value));
  }
  return settings;
}

void print_help() {
  std::printf(
      "usage: rknn_server [options]\nRuns .rknn models for clients over gRPC; docs/remote.md tells "
      "more.\n");
  for (const Option& option : options()) {
    const std::string left = str(option.name, option.value == nullptr ? "" : " ",
                                 option.value == nullptr ? "" : option.value);
    std::printf("  %-26s %s\n", left.c_str(), option.doc);
  }
}

// "rockchip,rk3588-evb1\0rockchip,rk3588\0" names the chip last.
std::string chip_of_this_board() {
  if (const char* const given = std::getenv("RKNN_TARGET"); given != nullptr) return given;
  std::ifstream file("/proc/device-tree/compatible", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t at = text.rfind("rockchip,");
  if (at == std::string::npos) return {};
  const std::string last = text.substr(at + 9);
  return last.substr(0, last.find('\0'));
}

Status run(const std::vector<std::string>& words) {
  RK_ASSIGN(Settings settings, parse(words));
  if (settings.help) {
    print_help();
    return rk::ok_status();
  }
  if (settings.version) {
    std::puts(rk::server::version_line());
    return rk::ok_status();
  }
  if (const char* const level = std::getenv("RKNN_SERVER_LOGLEVEL"); level != nullptr)
    rk::set_log_level(std::atoi(level));
  if (settings.serve.chip.empty()) settings.serve.chip = chip_of_this_board();
  RK_TRY(rk::server::check_access(settings.serve));
  RK_ASSIGN(const auto library, rk::server::Library::open(settings.library, settings.plugins));
  rk::server::Store store(library, settings.limits);
  if (!settings.models.empty()) RK_TRY(store.open_folder(settings.models));
  return rk::server::serve(store, settings.serve);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Status status = run(std::vector<std::string>(argv + 1, argv + argc));
    if (status.ok()) return 0;
    std::fprintf(stderr, "rknn_server: %s\n", status.message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rknn_server: internal error: %s\n", error.what());
  }
  return 1;
}
