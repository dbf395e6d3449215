// SPDX-License-Identifier: Apache-2.0
// A connection to a device behind an rknn_server. gRPC comes in with librknn_remote.so, loaded when the first connection
// is made, so that whoever names no device needs no gRPC.
//
// Note: models live on the server as long as the Client does. One thread at a time uses a Client.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "remote/devices.h"
#include "remote/remote_abi.h"

namespace rk::remote {

struct RemoteLibrary;

// Who answered.
struct Hello {
  std::string server_version;   // "2.3.2 (openrknn@...)"
  std::string library_version;  // of the runtime behind the server; empty: unknown
  std::string chip;             // empty: a simulator of any
};

class Client {
 public:
  // kUnavailable: no librknn_remote.so, or nobody answers; kInvalidArgument: token or certificate are not accepted.
  static Result<std::unique_ptr<Client>> open(const Device& device, const std::string& version,
                                              int timeout_ms = 10'000);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Hello& hello() const { return hello_; }
  const Device& device() const { return device_; }

  // `options`: flags, core_mask. The answer describes the model (see the "load" method of remote_abi.h).
  Result<Json> load(const std::string& name, std::span<const uint8_t> file, Json options);
  Status unload(const std::string& name);
  // `shapes`: null, or one list per input of a model with several shapes, for which the outputs are described.
  Result<Json> describe(const std::string& name, Json shapes = {});
  // run_us and detail.
  Result<Json> performance(const std::string& name);
  Result<Json> status();

  // `outputs` in: names and native of those wanted; empty: all. Out: types, shapes and data, which live until the next
  // call.
  Status infer(const std::string& model, std::span<const rknn_remote_tensor> inputs,
               std::vector<rknn_remote_tensor>& outputs);

 private:
  Client() = default;
  Result<Json> call(const char* method, const Json& options, std::span<const uint8_t> bytes = {});
  Status failure(int32_t code) const;

  const RemoteLibrary* library_ = nullptr;
  rknn_remote* handle_ = nullptr;
  Device device_;
  Hello hello_;
};

// One sentence when the versions of toolkit, server and runtime differ, naming all; empty when they agree.
std::string version_warning(const std::string& toolkit, const Hello& hello);

}  // namespace rk::remote
