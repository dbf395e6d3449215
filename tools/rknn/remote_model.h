// SPDX-License-Identifier: Apache-2.0
// A .rknn file on a device behind an rknn_server, for the commands that take --device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "remote/client.h"
#include "rknn/api_context.h"

namespace rk::tools {

class RemoteModel {
 public:
  // `device`: an address or a name of `rknn device list`. Warns when versions differ.
  static Result<std::unique_ptr<RemoteModel>> open(const std::string& device,
                                                   const std::string& path, uint32_t flags = 0,
                                                   uint32_t core_mask = 0);

  const std::vector<rknn_tensor_attr>& inputs() const { return inputs_; }
  const std::vector<rknn_tensor_attr>& outputs() const { return outputs_; }
  remote::Client& client() { return *client_; }
  const char* name() const;

  // One feed per input; native: outputs in the model's own types. The bytes live until the next call.
  struct Output {
    const uint8_t* bytes = nullptr;
    size_t size_bytes = 0;
  };
  Result<std::vector<Output>> run(std::vector<Feed>& feeds, bool native);

 private:
  std::unique_ptr<remote::Client> client_;
  std::vector<rknn_tensor_attr> inputs_, outputs_;
};

}  // namespace rk::tools
