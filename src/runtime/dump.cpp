// SPDX-License-Identifier: Apache-2.0
#include "runtime/dump.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "base/npy.h"

namespace rk::runtime {
namespace {

// Names of tensors hold slashes and colons.
std::string file_name(int32_t index, const std::string& name) {
  std::string out = std::to_string(index) + "_";
  for (const char c : name.substr(0, 200)) {
    out += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
  }
  return out + ".npy";
}

}  // namespace

std::string dump_folder() {
  const char* const folder = std::getenv("RKNN_DUMP_DIR");
  return folder != nullptr && *folder != '\0' ? folder : "/userdata/dumps";
}

Session::Observer make_dumper(const Session& session, std::string folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto warned = std::make_shared<bool>(false);
  return [&session, folder = std::move(folder), warned](int32_t index, const Tensor& stored) {
    const program::ProgramTensor& tensor =
        session.model().variant().tensors[static_cast<size_t>(index)];
    const Tensor numbers = to_f32(tensor, stored);
    NpyArray array;
    array.shape.assign(tensor.shape.dims().begin(), tensor.shape.dims().end());
    array.bytes.assign(numbers.bytes().begin(), numbers.bytes().end());
    const Status status = write_npy(folder + "/" + file_name(index, tensor.name), array);
    if (!status.ok() && !*warned) {
      log(LogLevel::kWarning,
          str("layer dumps: ", status.message(), ". Set RKNN_DUMP_DIR to a folder you may write"));
      *warned = true;
    }
    return ok_status();
  };
}

}  // namespace rk::runtime
