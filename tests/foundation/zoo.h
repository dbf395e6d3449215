// SPDX-License-Identifier: Apache-2.0
// The ONNX models beside the source tree with the outputs other engines gave for them.
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"

namespace rk::foundation {

struct ZooCase {
  std::string name;
  std::string source;          // what the inputs are, in words
  std::vector<Tensor> inputs;  // as the model takes them: normalized, model order
  std::vector<Tensor> outputs;
};

struct ZooModel {
  std::string name;
  std::string onnx;
  std::vector<ZooCase> cases;
  std::vector<std::string> output_names;
  std::string
      picture_form;  // JSON: how the only input is made of a picture; empty for other inputs
};

// Empty, after one SKIP line, when the folder is absent.
std::vector<std::string> zoo_names();
Result<ZooModel> load_zoo_model(const std::string& name);
// Inputs to calibrate on that are not those the model is judged on: other pictures, other noise of the same
// distribution, and for anything else the cases' inputs moved along by a third.
Result<ZooModel> calibration_set(const ZooModel& model);
// The cases' inputs as .npy files in a temporary folder, listed in the file whose path is returned.
Result<std::string> write_calibration(const ZooModel& model);

}  // namespace rk::foundation
