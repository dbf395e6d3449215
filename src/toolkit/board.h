// SPDX-License-Identifier: Apache-2.0
// A model on a device behind an rknn_server. The device computes, so its bytes are those of the runtime there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/accuracy.h"
#include "ir/tensor.h"
#include "program/program.h"
#include "remote/client.h"
#include "toolkit/runner.h"

namespace rk::toolkit {

// kUnsupported for chips that have no connected mode.
Status check_connected_mode(const std::string& target);

// Nothing when no device is meant: neither named nor, with a target, known. kUnavailable and kInvalidArgument in the
// words of init_runtime.
Result<std::optional<remote::Device>> device_for(const std::string& target,
                                                 const std::string& device_id);

class Board : public Runner {
 public:
  // Uploads the file. kUnavailable when nobody answers, kTargetMismatch when the board is another chip than
  // options.target.
  static Result<std::unique_ptr<Board>> create(std::vector<uint8_t> file,
                                               const RuntimeOptions& options,
                                               const remote::Device& device);

  bool dynamic() const override { return dynamic_; }
  std::string_view chip() const override { return chip_; }
  size_t input_count() const override { return inputs_.size(); }
  size_t output_count() const override { return outputs_.size(); }
  runtime::TensorAttr input_attr(size_t i) const override { return inputs_[i]; }
  runtime::TensorAttr output_attr(size_t i) const override { return outputs_[i]; }
  TensorType output_type(size_t i) const override;
  Status choose_shapes(std::span<const Feed> inputs) override;
  // Connects once more, and sends the model again, when the server was gone.
  Status run(std::span<const Feed> inputs, std::span<const ArrayRef> outputs) override;
  // As the device measures it: runs the model on zeros where it has not run yet.
  Result<std::string> performance(bool fix_freq, std::span<const Shape> shapes) override;
  program::ChipMemory memory() const override { return memory_; }
  std::string driver_versions() const override;

 private:
  Board() = default;
  // Null client_ on failure: the next call tries again.
  Status connect();
  Status open();
  Status infer(std::span<const Feed> inputs, std::span<const ArrayRef> outputs);

  remote::Device device_;
  std::vector<uint8_t> file_;
  std::unique_ptr<remote::Client>
      client_;  // null: the connection broke and could not be made again
  remote::Hello hello_;
  std::string chip_;
  std::string runtime_version_;
  bool dynamic_ = false;
  bool warned_of_versions_ = false;
  std::vector<std::vector<Shape>> shapes_;  // of a dynamic model: by input, then by set
  std::vector<runtime::TensorAttr> inputs_, outputs_;
  program::ChipMemory memory_;
};

// A Program on a device, for accuracy analysis and comparison: all that is asked for is an output of the file that is
// sent, so that any runtime can do it.
class DeviceProgram {
 public:
  // Its own outputs, or everything that its inputs and steps store as real numbers.
  enum class Outputs { kOwn, kEveryTensor };
  using Sink = std::function<Status(const std::string& name, const Tensor& tensor)>;

  static Result<DeviceProgram> open(program::Program program, Outputs outputs,
                                    const remote::Device& device);
  // `raw_inputs` as analysis::simulate takes them; `sink` gets float32.
  Status run(const std::vector<Tensor>& raw_inputs, const Sink& sink);

 private:
  DeviceProgram() = default;

  std::unique_ptr<remote::Client> client_;
  std::vector<runtime::TensorAttr> inputs_;
  std::vector<program::ProgramTensor> outputs_;
  std::vector<std::string> names_;  // of the outputs, as the program without additions has them
};

// accuracy_analysis with its board column from this device.
decltype(analysis::AccuracyOptions::run_board) run_on(const remote::Device& device);

}  // namespace rk::toolkit
