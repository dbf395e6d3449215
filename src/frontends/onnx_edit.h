// SPDX-License-Identifier: Apache-2.0
// onnx_edit: the same network with other shapes at its inputs and outputs. Names of inputs and outputs stay; Reshape
// and Transpose are put between them and the network. Everything in the file that we do not know is kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "frontends/transform_formula.h"

namespace rk::frontends {

// Formulas by tensor name (frontends/transform_formula.h).
struct EditOptions {
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
};

struct EditedModel {
  std::vector<uint8_t> bytes;
  bool has_external_data = false;        // constants lie in files beside the model
  std::vector<std::string> input_names;  // of the model, in order, constants left out
  std::map<std::string, Transform> input_transforms;
};

// kInvalidArgument names the tensor or quotes the formula, kInvalidModel when the bytes are no ONNX model.
Result<EditedModel> edit_onnx(ByteSpan bytes, const EditOptions& options);

}  // namespace rk::frontends
