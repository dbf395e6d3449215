// SPDX-License-Identifier: Apache-2.0
// The networks under test, with pictures, calibration data and stored outputs of other engines.
// signs and digits lie in examples/ and always run; the others lie in a folder beside the source
// tree (RK_SHARED, else ../shared) and are left out with one line when it is not there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "media/picture.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::e2e {

// Outputs computed by another engine.
struct Golden {
  std::string name;
  Tensor input;  // raw (before mean and std), f32 NCHW
  std::vector<Tensor> outputs;
};

struct TestModel {
  std::string name;
  std::string onnx;
  std::vector<float> mean;
  std::vector<float> std;
  std::string dataset;  // calibration list
  std::vector<Golden> goldens;
  std::vector<media::Picture> pictures;  // for the int8 comparison, in the input's extents
};

// True in sanitized builds: few pictures, no scores.
bool subset();

std::optional<std::string> shared_folder();

// Every model, or only what was found; a model that is there and cannot be loaded is an error.
Result<TestModel> load_signs();
Result<TestModel> load_digits();
std::vector<std::string> shared_model_names();
// The folder must exist.
Result<TestModel> load_shared_model(const std::string& name, const std::string& shared);
// By name; nothing when it is a shared model and the folder is absent.
Result<std::optional<TestModel>> load_model(const std::string& name);

// Converted to int8 for rk3588, once per process and model. The toolkit stays for golden().
struct Converted {
  toolkit::Toolkit toolkit;
  std::vector<uint8_t> rknn;
};
Result<const Converted*> converted(const TestModel& model);

// A picture as the raw f32 NCHW tensor that golden() takes.
Tensor picture_tensor(const media::Picture& picture);
Result<Tensor> read_npy_tensor(const std::string& path);
std::string example_path(const std::string& relative);

}  // namespace rk::e2e
