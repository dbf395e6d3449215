// SPDX-License-Identifier: Apache-2.0
// The methods of rknn_toolkit_c.h by name, over Toolkit and Simulator, without anything of C in them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "toolkit/options.h"
#include "toolkit/rknn_toolkit.h"
#include "toolkit/runner.h"

namespace rk::toolkit {

// One model, from its options to its results. Not thread-safe.
class Methods {
 public:
  // (stage, done, total); false stops the call.
  using Progress = std::function<bool(const char* stage, size_t done, size_t total)>;
  explicit Methods(Progress progress) : progress_(std::move(progress)) {}

  Result<Json> call(std::string_view method, const Json& options,
                    const std::vector<Tensor>& arrays);
  Status reg_custom_op(ops::CustomOp op);
  Status inference(const Json& options, const std::vector<ArrayRef>& inputs,
                   const std::vector<ArrayRef>& outputs);

 private:
  Result<Json> config(const Json& options);
  // load_<format>: the files under the names that the format's row has for them.
  Result<Json> load(std::string_view format, const Json& options,
                    const std::vector<Tensor>& arrays);
  Result<Json> optimize_onnx(const Json& options);
  Result<Json> load_rknn(const Json& options);
  Result<Json> export_encrypted(const Json& options);
  Result<Json> build(const Json& options);
  Result<Json> accuracy_analysis(const Json& options);
  Result<Json> hybrid_step1(const Json& options);  // hybrid_methods.cpp
  Result<Json> hybrid_step2(const Json& options);
  Result<Json> export_rknn(const Json& options);
  Result<Json> codegen(const Json& options);
  Result<Json> init_runtime(const Json& options);
  Result<Json> choose_shapes(const Json& options);
  static Result<std::vector<Feed>> feeds_of(const std::vector<ArrayRef>& inputs,
                                            OptionReader& reader);
  Result<Json> eval_perf(const Json& options);
  Result<Json> eval_memory(const Json& options);
  Result<Json> get_sdk_version(const Json& options);
  Status begin(const char* stage);  // kCancelled when the caller has already asked for it
  Result<Json> list_devices(const Json& options);
  // The finished file: of the last build, or as it was loaded.
  Result<std::vector<uint8_t>> rknn_file() const;
  Result<Runner*> running(std::string_view method);

  Progress progress_;
  Toolkit toolkit_;
  bool built_ = false;
  bool removes_weights_ = false;              // as config() said
  bool compresses_weights_ = false;           // likewise
  std::vector<bool> rgb2bgr_;                 // of config, for codegen's pictures
  std::optional<std::vector<uint8_t>> file_;  // of load_rknn
  std::string rknn_path_;                     // the file last written or loaded, absolute
  std::unique_ptr<Runner> runner_;
};

}  // namespace rk::toolkit
