// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/dump.h"

#include <algorithm>
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
  const char* const folder = secure_getenv("RKNN_DUMP_DIR");
  return folder != nullptr && *folder != '\0' ? folder : "dumps";
}

namespace {

class Dumper {
 public:
  Dumper(const Session& session, std::string folder)
      : session_(session), folder_(std::move(folder)) {}

  void dump(int32_t index, const Tensor& stored) {
    const program::Variant& variant = session_.variant();
    const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
    for (size_t i = 0; i < variant.inputs.size(); ++i) {
      if (variant.inputs[i] != index) continue;
      const auto given = session_.bound_input(i);
      return write(index, "InputOperator_" + tensor.name, given ? *given : to_f32(tensor, stored));
    }
    const Tensor numbers = to_f32(tensor, stored);
    write(index, writer_of(variant, index) + "_" + tensor.name, numbers);
    if (std::ranges::find(variant.outputs, index) != variant.outputs.end())
      write(index, "OutputOperator_" + tensor.name, numbers);
  }

 private:
  static std::string writer_of(const program::Variant& variant, int32_t index) {
    for (const program::Step& step : variant.steps) {
      if (std::ranges::find(step.outputs, index) != step.outputs.end()) return step.type;
    }
    return "Constant";
  }

  void write(int32_t index, const std::string& name, const Tensor& numbers) {
    NpyArray array;
    array.shape.assign(numbers.shape().dims().begin(), numbers.shape().dims().end());
    array.bytes.assign(numbers.bytes().begin(), numbers.bytes().end());
    const Status status = write_npy(folder_ + "/" + file_name(index, name), array);
    if (status.ok() || warned_) return;
    log(LogLevel::kWarning,
        str("layer dumps: ", status.message(), ". Set RKNN_DUMP_DIR to a folder you may write"));
    warned_ = true;
  }

  const Session& session_;
  std::string folder_;
  bool warned_ = false;
};

}  // namespace

Session::Observer make_dumper(const Session& session, std::string folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto dumper = std::make_shared<Dumper>(session, std::move(folder));
  return [dumper](int32_t index, const Tensor& stored) {
    dumper->dump(index, stored);
    return ok_status();
  };
}

}  // namespace rk::runtime
